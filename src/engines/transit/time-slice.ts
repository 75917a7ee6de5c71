// Long work that is done here in small steps, with other requests let in between.
import type { World } from '../../lib/world.ts'

/** As long as one request holds a thread that serves others too (threats P-42). */
export const SLICE_MS = 5

type Time = Pick<World, 'clock' | 'timers'>

/** What lets others in while it works. */
export type Timed = { readonly world: Time }

export class TimeSlice {
  readonly #world: Time
  #end: number

  constructor(world: Time) {
    this.#world = world
    this.#end = world.clock.monotonicMs() + SLICE_MS
  }

  /** To be called between steps: lets others in once a turn is over. */
  async pause(): Promise<void> {
    if (this.#world.clock.monotonicMs() < this.#end) return
    await this.#world.timers.sleep(0)
    this.#end = this.#world.clock.monotonicMs() + SLICE_MS
  }
}
