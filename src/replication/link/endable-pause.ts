// A pause that something else than its time can end.
import type { Timer, Timers } from '../../lib/world.ts'

/** One pause at a time. */
export class EndablePause {
  readonly #timers: Pick<Timers, 'after'>
  #resting: { readonly timer: Timer; readonly resolve: () => void } | undefined

  constructor(timers: Pick<Timers, 'after'>) {
    this.#timers = timers
  }

  /** Resolves when so much time has passed, or at `end`. */
  rest(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#resting = { timer: this.#timers.after(ms, () => this.end()), resolve }
    return promise
  }

  /** Ends the pause, if there is one now. */
  end(): void {
    this.#resting?.timer.cancel()
    this.#resting?.resolve()
    this.#resting = undefined
  }
}
