// Keeps the caches of one thread as new as the store: whoever commits raises a counter that all threads share, and a
// thread that sees it raised reads from the log which keys changed, before it serves its next request.
import { HistoryGone, type ReadStore, type Store } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'

const PAGE = 256

/** The low 32 bits of the index of the last commit, in memory that threads share: enough to see that it moved. */
export type PublishedIndex = Int32Array<SharedArrayBuffer>

export function newPublishedIndex(): PublishedIndex {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
}

/** In the thread that writes: its own caches first, then the others may look. */
export function publishCommits(store: Store, invalidation: Invalidation, published: PublishedIndex): void {
  store.onCommit((change) => {
    for (const { key } of change.operations) invalidation.changed(key)
    Atomics.store(published, 0, change.index | 0)
  })
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

  /** Undefined where nothing was committed since; else resolves when this thread has forgotten what changed. */
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
