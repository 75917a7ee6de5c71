// How long a login may wait for the cloud, whatever it asks there: one end for all its calls and their repetitions.
import type { World } from '../../lib/world.ts'
import { CloudUnavailable } from './refusals.ts'

const LOGIN_MS = 10_000

export class LoginDeadline {
  readonly #world: World
  readonly #endMs: number

  constructor(world: World, ms = LOGIN_MS) {
    this.#world = world
    this.#endMs = world.clock.monotonicMs() + ms
  }

  get leftMs(): number {
    return Math.max(0, this.#endMs - this.#world.clock.monotonicMs())
  }

  /** What `work` gives, which others may wait for too. @throws CloudUnavailable where it is not there in time */
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
