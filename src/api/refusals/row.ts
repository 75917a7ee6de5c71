// The form of the table of refusals.

/** One refusal. `message` makes the public sentence from the arguments of `fail`. */
export type RefusalRow = {
  readonly status: number
  readonly message: (...args: never[]) => string
  /** Advice for client or operator; shown only in the documentation. */
  readonly remedy: string
}

/** Refusals by code; within a file they are ordered by status. */
export type RefusalRows = Readonly<Record<string, RefusalRow>>
