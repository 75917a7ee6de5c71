import type { PseudoRandom } from '../fixtures/pseudo-random.ts'
import type { Connection } from './connection.ts'
import type { Step } from './linearizability.ts'

/** One request, what the model makes of it in one step or two, and its answer as a text that can be compared. */
export type Call<S> = {
  readonly name: string
  readonly step: Step<S>
  /** Behind a `step` that is not all of it. */
  readonly afterwards?: Step<S>
  readonly send: (connection: Connection) => Promise<string>
}

/** Something that the server keeps, with what may be asked of it. */
export type Thing<S> = {
  readonly name: string
  readonly initial: S
  /** Makes it, before anyone else knows of it. */
  readonly setUp: (connection: Connection) => Promise<void>
  readonly next: (random: PseudoRandom) => Call<S>
  /** True when it was asked enough; another takes its place. */
  readonly isSpent: () => boolean
}

export const ROOT = 'root'
