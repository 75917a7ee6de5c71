// Which entries of mounts the secondaries of this cluster have got. Each of them may be promoted, and knows nothing of
// what it has not got: so engines ask before they count on it (engines/transit/budget/cluster-ledger.ts).
import type { NodeRole } from '../api/node-role.ts'
import type { SeenEntries } from '../api/seen-entries.ts'
import type { Change, StorageClass, Store } from '../storage/contract.ts'
import type { ReplicationOperations } from '../system/replication-operations.ts'

/** Entries that are asked about: the ledger of a transit mount. Of others nothing is kept. */
const ASKED = /^[^/]+\/logical\/[^/]+\/(?:use\/.+|clusters)$/

type Parts = {
  readonly store: Pick<Store, 'onCommit' | 'position'>
  readonly role: () => NodeRole
  /** Undefined: this server does not replicate. */
  readonly operations: (() => Pick<ReplicationOperations, 'acknowledged'>) | undefined
}

/** The places of last changes, and how far the secondaries are. Of the thread that writes. */
export class SeenChanges {
  readonly #parts: Parts
  /** Indexes of the last changes of entries, of those that were not seen by all when they were asked about last. */
  readonly #last = new Map<string, number>()
  /** No entry that is not among those changed behind this index. */
  #before: number | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    parts.store.onCommit((change) => this.#note(change))
  }

  #note({ index, operations }: Change): void {
    this.#before ??= index - 1
    for (const { key } of operations) if (ASKED.test(key)) this.#last.set(key, index)
  }

  /** What has been seen of the entries of one class in the folder. */
  of(folder: string, storageClass: StorageClass): SeenEntries {
    let reached = 0
    return {
      look: async () => {
        reached = await this.#reached(storageClass)
      },
      has: (path) => {
        const key = folder + path
        const last = this.#last.get(key) ?? this.#before
        const isSeen = reached === Infinity || (last !== undefined && last <= reached)
        if (isSeen) this.#last.delete(key)
        return isSeen
      },
    }
  }

  /** The index up to which all secondaries have what is of the class; Infinity if there is none. */
  async #reached(storageClass: StorageClass): Promise<number> {
    const { store, role, operations } = this.#parts
    const { dr, performance } = role()
    if (operations === undefined || (dr !== 'primary' && performance !== 'primary')) return Infinity
    this.#before ??= (await store.position()).index
    try {
      return await operations().acknowledged(storageClass)
    } catch {
      // As long as the links do not tell, nothing more has been seen.
      return 0
    }
  }
}
