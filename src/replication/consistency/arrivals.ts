// Waits, on one thread, until the store has come to some place. All who wait share one wait for the next commit, so
// that those who gave up leave nothing behind where nothing is committed for long. A place of a peer's log can be
// reached without a commit, where nothing up to it was for this cluster: so they look from time to time as well.
import type { Timers } from '../../lib/world.ts'
import type { Position } from '../../storage/peer-log.ts'

/** The store as a thread sees it. */
export type Progress = {
  readonly position: () => Position | Promise<Position>
  /** As `Store.committedAfter`. */
  readonly committedAfter: (index: number) => Promise<number>
}

type Waiter = {
  /** Where more than the position counts, a promise. */
  readonly isThere: (position: Position) => boolean | Promise<boolean>
  readonly end: (isThere: boolean) => void
}

/** From one look to the next, while somebody waits and nothing is committed. */
const LOOK_MS = 20

/** Those of one thread who wait. */
export class Arrivals {
  readonly #progress: Progress
  readonly #timers: Pick<Timers, 'after'>
  readonly #waiting = new Set<Waiter>()
  #isFollowing = false
  /** The commit that is waited for. */
  #commit: Promise<unknown> | undefined

  constructor(progress: Progress, timers: Pick<Timers, 'after'>) {
    this.#progress = progress
    this.#timers = timers
  }

  /** How many wait. For tests. */
  get size(): number {
    return this.#waiting.size
  }

  /**
   * Resolves with true once the store is there, with false if it is not after `ms`.
   * @throws StorageClosed if it is closed at the beginning
   */
  async wait(isThere: Waiter['isThere'], ms: number): Promise<boolean> {
    if (ms <= 0) return isThere(await this.#progress.position())
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiter = { isThere, end: resolve }
    // Before the look: what is committed behind it wakes the waiter.
    this.#waiting.add(waiter)
    try {
      if (await isThere(await this.#progress.position())) return true
      void this.#follow()
      const timer = this.#timers.after(ms, () => void this.#lookLast(waiter))
      const arrived = await promise
      timer.cancel()
      return arrived
    } finally {
      this.#waiting.delete(waiter)
    }
  }

  async #lookLast({ isThere, end }: Waiter): Promise<void> {
    try {
      end(await isThere(await this.#progress.position()))
    } catch {
      end(false)
    }
  }

  async #follow(): Promise<void> {
    if (this.#isFollowing) return
    this.#isFollowing = true
    try {
      while (this.#waiting.size > 0) {
        const position = await this.#progress.position()
        for (const waiter of this.#waiting) if (await waiter.isThere(position)) this.#end(waiter, true)
        if (this.#waiting.size > 0) await this.#next(position.index)
      }
    } catch {
      // The store is closed, or writes no more: nothing arrives in it.
      for (const waiter of this.#waiting) this.#end(waiter, false)
    } finally {
      this.#isFollowing = false
    }
  }

  #end(waiter: Waiter, isThere: boolean): void {
    this.#waiting.delete(waiter)
    waiter.end(isThere)
  }

  /** Resolves behind the next commit, or when it is time to look. @throws what waiting for a commit throws */
  async #next(index: number): Promise<void> {
    this.#commit ??= this.#nextCommit(index)
    const pause = Promise.withResolvers<void>()
    const timer = this.#timers.after(LOOK_MS, pause.resolve)
    try {
      await Promise.race([this.#commit, pause.promise])
    } finally {
      timer.cancel()
    }
  }

  /** It may outlive those who wait for it, and fail when none of them is left. */
  #nextCommit(index: number): Promise<unknown> {
    const commit = this.#progress.committedAfter(index).finally(() => {
      this.#commit = undefined
    })
    commit.catch(() => {})
    return commit
  }
}
