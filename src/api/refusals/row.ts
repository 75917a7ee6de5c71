// One row of the table of refusals.

export type RefusalRow = {
  readonly status: number
  readonly message: (...args: never[]) => string
  /** For whoever got it, client or operator; only in the documentation. */
  readonly remedy: string
}

/** By code; those of one file are ordered by status. */
export type RefusalRows = Readonly<Record<string, RefusalRow>>
