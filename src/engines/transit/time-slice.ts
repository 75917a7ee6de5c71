// Long work on a thread that serves requests: done in small steps, with other requests let in between.
import type { World } from '../../lib/world.ts'

/** The longest time that one request holds a thread which serves others too (threats P-42). */
export const SLICE_MS = 5

type Time = Pick<World, 'clock' | 'timers'>

/** The parts of a mount that long work needs in order to pause. */
export type Timed = { readonly world: Time }

/** The time that long work may take before it must pause. */
export class TimeSlice {
  readonly #world: Time
  #end: number

  constructor(world: Time) {
    this.#world = world
    this.#end = world.clock.monotonicMs() + SLICE_MS
  }

  /** Lets other requests in once the slice is over, and begins the next. To be called between two steps. */
  async pause(): Promise<void> {
    if (this.#world.clock.monotonicMs() < this.#end) return
    await this.#world.timers.sleep(0)
    this.#end = this.#world.clock.monotonicMs() + SLICE_MS
  }
}
