// Keeps the caches of one thread as new as the store: whoever commits raises a counter that all threads share, and a
// thread that sees it raised reads from the log which keys changed, before it serves its next request.
//
// It is raised before the commit, not behind it: between a commit and a counter that follows, one thread could answer
// from the store with what is new and another, asked later, from its cache with what was. A thread that finds nothing
// in the log yet serves what it has, and looks again at its next request.
import { HistoryGone, type ReadStore } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'

const PAGE = 256

/** The low 32 bits of the index of the last commit that was begun, in memory that threads share. */
export type PublishedIndex = Int32Array<SharedArrayBuffer>

export function newPublishedIndex(): PublishedIndex {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
}

/** In the thread that writes, before changes up to `index` are written, and where a store is opened. */
export function publishIndex(published: PublishedIndex, index: number): void {
  Atomics.store(published, 0, index | 0)
}

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

  static async start(store: ReadStore, invalidation: Invalidation, published: PublishedIndex): Promise<ChangeFollower> {
    return new ChangeFollower(store, invalidation, published, await store.lastIndex())
  }

  /** Undefined where no commit was begun since; else resolves when this thread has forgotten what changed. */
  catchUp(): Promise<void> | undefined {
    if (Atomics.load(this.#published, 0) === (this.#seen | 0)) return undefined
    // A run that began before the newest commit may not have seen it, so its end is looked at again.
    if (this.#following !== undefined) return this.#following.then(() => this.catchUp())
    this.#following = this.#follow().finally(() => {
      this.#following = undefined
    })
    return this.#following
  }

  /** Another store is in the place of the one that was followed: nothing that is known of that one counts. */
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
