// The time that a login may wait for the cloud: one end for all its calls and their repetitions.
import type { World } from '../../lib/world.ts'
import { CloudUnavailable } from './refusals.ts'

/** Ten seconds, as the help of `retry_delay` tells operators. */
const LOGIN_MS = 10_000

/** A deadline on the monotonic clock, made when a login begins. */
export class LoginDeadline {
  readonly #world: World
  readonly #endMs: number

  constructor(world: World, ms = LOGIN_MS) {
    this.#world = world
    this.#endMs = world.clock.monotonicMs() + ms
  }

  /** Milliseconds left, not below 0. */
  get leftMs(): number {
    return Math.max(0, this.#endMs - this.#world.clock.monotonicMs())
  }

  /**
   * Waits for `work`, which others may wait for too and which is not cancelled.
   * @throws CloudUnavailable if it takes too long.
   */
  async within<T>(work: Promise<T>): Promise<T> {
    let give: (cause: Error) => void = () => {}
    const late = new Promise<never>((_, reject) => {
      give = reject
    })
    const timer = this.#world.timers.after(this.leftMs, () =>
      give(new CloudUnavailable('the cloud did not answer in time', 'The deadline of the login passed')),
    )
    try {
      return await Promise.race([work, late])
    } finally {
      timer.cancel()
    }
  }
}
