// A reading of something that callers without a token ask for, and that may not cost more however often they ask.
import type { Clock } from '../lib/world.ts'

/** How long it is told again without another reading. */
const FRESH_MS = 1_000

/** Reads once a second at most; callers meanwhile share what was found. A reading that failed is not kept. */
export class FreshReading<T> {
  readonly #clock: Clock
  readonly #read: () => Promise<T>
  #last: { readonly atMs: number; readonly found: Promise<T> } | undefined

  constructor(clock: Clock, read: () => Promise<T>) {
    this.#clock = clock
    this.#read = read
  }

  take(): Promise<T> {
    const nowMs = this.#clock.monotonicMs()
    if (this.#last !== undefined && nowMs - this.#last.atMs < FRESH_MS) return this.#last.found
    const found = this.#read()
    const taken = { atMs: nowMs, found }
    this.#last = taken
    found.catch(() => {
      if (this.#last === taken) this.#last = undefined
    })
    return found
  }

  /** The next caller gets a new reading: what it would find has just been changed here. */
  forget(): void {
    this.#last = undefined
  }
}
