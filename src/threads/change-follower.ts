// Keeps the caches of one thread as new as the store. The writer raises a counter that all threads share. A thread that
// sees it raised reads from the log which keys changed, before it serves its next request.
//
// The counter is raised before the commit. After it would be too late: one thread could answer from the store with the
// new value, and another, asked later, from its cache with the old one. A thread that finds nothing in the log yet
// serves what it has, and looks again at its next request.
import type { ReadStore } from '../storage/contract.ts'
import { HistoryGone } from '../storage/errors.ts'
import type { Invalidation } from '../storage/invalidation.ts'

/** Changes read from the log at once. */
const PAGE = 256

/**
 * The low 32 bits of the change index that was last begun, in shared memory. Followers compare it for equality only, so
 * that wrapping around does no harm.
 */
export type PublishedIndex = Int32Array<SharedArrayBuffer>

/** Makes the counter; the watching thread hands it to all others. */
export function newPublishedIndex(): PublishedIndex {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
}

/** Called on the writing thread before changes up to `index` are written, and when a store is opened. */
export function publishIndex(published: PublishedIndex, index: number): void {
  Atomics.store(published, 0, index | 0)
}

/** Follows the store on a thread that does not write, and tells its caches which keys to forget. */
export class ChangeFollower {
  readonly #store: ReadStore
  readonly #invalidation: Invalidation
  readonly #published: PublishedIndex
  #seen: number
  #following: Promise<void> | undefined

  private constructor(store: ReadStore, invalidation: Invalidation, published: PublishedIndex, seen: number) {
    this.#store = store
    this.#invalidation = invalidation
    this.#published = published
    this.#seen = seen
  }

  /** Begins at the last change of the store: caches filled from now on are as new as that. */
  static async start(store: ReadStore, invalidation: Invalidation, published: PublishedIndex): Promise<ChangeFollower> {
    return new ChangeFollower(store, invalidation, published, await store.lastIndex())
  }

  /**
   * Returns undefined if this thread has seen the newest commit that was begun. Otherwise resolves when the caches of
   * this thread have forgotten what the log has of it. If the log does not have it yet, the next call reads again.
   */
  catchUp(): Promise<void> | undefined {
    if (Atomics.load(this.#published, 0) === (this.#seen | 0)) return undefined
    // A run that began before the newest commit may not have seen it, so the counter is compared again after it.
    if (this.#following !== undefined) return this.#following.then(() => this.catchUp())
    this.#following = this.#follow().finally(() => {
      this.#following = undefined
    })
    return this.#following
  }

  /** Starts over after another store took the place of the followed one (a restore). All caches forget everything. */
  async restart(): Promise<void> {
    this.#seen = await this.#store.lastIndex()
    this.#invalidation.reset()
  }

  async #follow(): Promise<void> {
    try {
      while (Atomics.load(this.#published, 0) !== (this.#seen | 0)) {
        const changes = await this.#store.changesSince(this.#seen, PAGE)
        for (const change of changes) {
          for (const { key } of change.operations) this.#invalidation.changed(key)
          this.#seen = change.index
        }
        if (changes.length === 0) return
      }
    } catch (cause) {
      if (!(cause instanceof HistoryGone)) throw cause
      await this.restart()
    }
  }
}
