// A clock that can be set apart from that of the machine.
import type { Clock } from '../src/lib/world.ts'

export class SkewedClock implements Clock {
  readonly #clock: Clock
  /** Ahead of the clock behind it where positive. */
  skewMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.skewMs
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs()
  }
}
