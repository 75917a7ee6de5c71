// Tables of calls: what one end of a channel may ask of the other. Both ends import the same table. A call without a
// handler, or with another type at the other end, does not compile.
import type { Movable } from './channel.ts'

/** A row for a question: it gets one answer, or one error. */
export type Call<I, O> = {
  readonly kind: 'call'
  /** How many may wait for answers at once; one more is refused before it is sent. */
  readonly most: number
  /** How long to wait for an answer; undefined: as long as the other end lives. */
  readonly deadlineMs: number | undefined
  readonly moves: (input: I) => readonly Movable[]
  readonly answerMoves: (output: O) => readonly Movable[]
}

/** A row without an answer: it arrives, or the other end has ended. */
export type Notice<I> = { readonly kind: 'notice'; readonly moves: (input: I) => readonly Movable[] }

/** The rows by name. Names are sent, so both ends must have the same. */
export type CallTable = Readonly<Record<string, Call<never, never> | Notice<never>>>

/** The input of a row. */
export type InputOf<C> = C extends Call<infer I, never> ? I : C extends Notice<infer I> ? I : never
/** The answer of a call. */
export type OutputOf<C> = C extends Call<never, infer O> ? O : never
/** The names in a table that have an answer. */
export type CallNames<T extends CallTable> = {
  [N in keyof T & string]: T[N] extends Call<never, never> ? N : never
}[keyof T & string]
/** The names in a table that have none. */
export type NoticeNames<T extends CallTable> = {
  [N in keyof T & string]: T[N] extends Notice<never> ? N : never
}[keyof T & string]

/** The functions that answer a table: one for each row, and no other. */
export type Handlers<T extends CallTable> = {
  readonly [N in keyof T]: T[N] extends Call<never, never>
    ? (input: InputOf<T[N]>) => OutputOf<T[N]> | Promise<OutputOf<T[N]>>
    : (input: InputOf<T[N]>) => void
}

/** The table of an end that is asked nothing. */
export const NO_CALLS = {} as const satisfies CallTable

/** Used for calls whose row sets no limit. */
const MOST_WAITING = 10_000
const nothing = (): readonly Movable[] => []

/** Makes a row with an answer; the types of input and answer are given, the options may be left out. */
export function call<I, O>(options: Partial<Omit<Call<I, O>, 'kind'>> = {}): Call<I, O> {
  const { most = MOST_WAITING, deadlineMs, moves = nothing, answerMoves = nothing } = options
  return { kind: 'call', most, deadlineMs, moves, answerMoves }
}

/** Makes a row without an answer. */
export function notice<I>({ moves = nothing }: Partial<Pick<Notice<I>, 'moves'>> = {}): Notice<I> {
  return { kind: 'notice', moves }
}
