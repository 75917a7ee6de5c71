// A clock that can be set apart from that of the machine.
import type { Clock } from '../src/lib/world.ts'

/** The clock of the emulator. Only the wall clock is shifted; durations are measured by the machine's. */
export class SkewedClock implements Clock {
  readonly #clock: Clock
  /** Milliseconds that it is ahead of the machine; negative if it is behind. */
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
