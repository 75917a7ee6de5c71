// The store as the thread of the links reads it: beside the one that writes, which says when it may be open. It is
// opened when there are links, and stays so for as long as it may.
import { OneAtATime } from '../lib/one-at-a-time.ts'
import type { SourceStore } from '../replication/source/source-parts.ts'
import type { ReadStore } from '../storage/contract.ts'
import { ReplaceableReader } from '../storage/replaceable-store.ts'
import type { CommittedFollower } from '../threads/committed-index.ts'
import type { StorePresence } from '../threads/link-calls.ts'

/** The parts that it works with. */
export type LinkStoreParts = {
  /** Opens the store that is there now. */
  readonly openStore: () => Promise<ReadStore>
  readonly committed: CommittedFollower
  /** Called when the store cannot be opened: the thread is then of no use. */
  readonly onLost: (cause: unknown) => void
}

/** Opens and closes the store, one after the other. */
export class LinkStore {
  /** While there is no store, its verbs throw StorageClosed. */
  readonly source: SourceStore
  readonly #reader = new ReplaceableReader()
  readonly #parts: LinkStoreParts
  #presence: StorePresence = 'detached'
  #isWanted = false
  readonly #orders = new OneAtATime()

  constructor(parts: LinkStoreParts) {
    this.#parts = parts
    const reader = this.#reader
    this.source = {
      position: () => reader.position(),
      histories: () => reader.histories(),
      records: (index, limit) => reader.records(index, limit),
      snapshot: () => reader.snapshot(),
      committedAfter: (index) => parts.committed.after(index),
    }
  }

  /** Takes over what the writing thread says. Resolves when the store is closed, or may be read again. */
  take(presence: StorePresence): Promise<void> {
    return this.#orders.run(async () => {
      this.#presence = presence
      await this.#reader.putAway()
      await this.#open()
    })
  }

  /** From now on the store is open whenever it may be. Resolves when it is, or may not be. */
  use(): Promise<void> {
    return this.#orders.run(async () => {
      if (this.#isWanted) return
      this.#isWanted = true
      await this.#open()
    })
  }

  close(): Promise<void> {
    return this.take('detached')
  }

  async #open(): Promise<void> {
    if (!this.#isWanted || this.#presence === 'detached') return
    try {
      this.#reader.putBack(await this.#parts.openStore())
    } catch (cause) {
      this.#parts.onLost(cause)
      throw cause
    }
  }
}
