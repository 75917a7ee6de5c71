// A table of calls: what one end of a channel may ask of the other. Both ends import the same table, so a call that
// nobody answers, or whose input or answer has another type at the other end, does not compile.
import type { Movable } from './channel.ts'

/** A call has one answer, or one error. */
export type Call<I, O> = {
  readonly kind: 'call'
  /** How many may wait for their answers at once; one more is refused where it is made. */
  readonly most: number
  /** How long the answer is waited for; undefined: as long as the other end lives. */
  readonly deadlineMs: number | undefined
  readonly moves: (input: I) => readonly Movable[]
  readonly answerMoves: (output: O) => readonly Movable[]
}

/** A notice has no answer; it arrives, or the other end has ended. */
export type Notice<I> = { readonly kind: 'notice'; readonly moves: (input: I) => readonly Movable[] }

export type CallTable = Readonly<Record<string, Call<never, never> | Notice<never>>>

export type InputOf<C> = C extends Call<infer I, never> ? I : C extends Notice<infer I> ? I : never
export type OutputOf<C> = C extends Call<never, infer O> ? O : never
export type CallNames<T extends CallTable> = {
  [N in keyof T & string]: T[N] extends Call<never, never> ? N : never
}[keyof T & string]
export type NoticeNames<T extends CallTable> = {
  [N in keyof T & string]: T[N] extends Notice<never> ? N : never
}[keyof T & string]

/** The functions that answer a table: none is missing, and none is there that nobody calls. */
export type Handlers<T extends CallTable> = {
  readonly [N in keyof T]: T[N] extends Call<never, never>
    ? (input: InputOf<T[N]>) => OutputOf<T[N]> | Promise<OutputOf<T[N]>>
    : (input: InputOf<T[N]>) => void
}

/** The table of an end that is asked nothing. */
export const NO_CALLS = {} as const satisfies CallTable

/** Unless its row says otherwise. */
const MOST_WAITING = 10_000
const nothing = (): readonly Movable[] => []

export function call<I, O>(options: Partial<Omit<Call<I, O>, 'kind'>> = {}): Call<I, O> {
  const { most = MOST_WAITING, deadlineMs, moves = nothing, answerMoves = nothing } = options
  return { kind: 'call', most, deadlineMs, moves, answerMoves }
}

export function notice<I>({ moves = nothing }: Partial<Pick<Notice<I>, 'moves'>> = {}): Notice<I> {
  return { kind: 'notice', moves }
}
