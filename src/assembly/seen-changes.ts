// Which entries of mounts the secondaries of this cluster have got. Each of them may be promoted, and knows nothing of
// what it has not got: so engines ask before they count on it (engines/transit/budget/cluster-ledger.ts).
import type { NodeRole } from '../api/node-role.ts'
import type { SeenEntries } from '../api/seen-entries.ts'
import type { Change, StorageClass, Store } from '../storage/contract.ts'
import type { ReplicationOperations } from '../system/replication-operations.ts'

/** Entries that are asked about: the ledger of a transit mount. Of others nothing is kept. */
const ASKED = /^[^/]+\/logical\/[^/]+\/(?:use\/.+|clusters)$/

/** Of one entry; who asks takes more than a few for too many. */
const MOST_KEPT = 7

type Parts = {
  readonly store: Pick<Store, 'onCommit' | 'position'>
  readonly role: () => NodeRole
  /** Undefined: this server does not replicate. */
  readonly operations:
    | (() => Pick<ReplicationOperations, 'acknowledged' | 'mayBeReplaced' | 'secondaryIds'>)
    | undefined
}

/** The places of last changes, and how far the secondaries are. Of the thread that writes. */
export class SeenChanges {
  readonly #parts: Parts
  /** Indexes of changes of entries, oldest first, but for those that all had seen when they were asked about last. */
  readonly #changes = new Map<string, readonly number[]>()
  /** Other changes of entries lie at this index or before it. */
  #before: number | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    parts.store.onCommit((change) => this.#note(change))
  }

  #note({ index, operations }: Change): void {
    this.#before ??= index - 1
    for (const { key } of operations)
      if (ASKED.test(key)) this.#changes.set(key, [...(this.#changes.get(key) ?? []).slice(-MOST_KEPT), index])
  }

  /** What has been seen of the entries of one class in the folder. */
  of(folder: string, storageClass: StorageClass): SeenEntries {
    let reached = 0
    let mayBeReplaced = false
    let following: readonly string[] | undefined
    return {
      look: async () => {
        reached = await this.#reached(storageClass)
        mayBeReplaced = reached !== Infinity && (await this.#mayBeReplaced(storageClass))
        following = await this.#following()
      },
      mayBeReplaced: () => mayBeReplaced,
      mayFollow: (secondary) => following === undefined || following.includes(secondary),
      unseen: (path) => {
        if (reached === Infinity) return 0
        const key = folder + path
        const left = (this.#changes.get(key) ?? []).filter((index) => index > reached)
        if (left.length === 0) this.#changes.delete(key)
        else this.#changes.set(key, left)
        // What is older than the first one noted may have changed any number of times.
        return this.#before === undefined || this.#before > reached ? Infinity : left.length
      },
    }
  }

  async #mayBeReplaced(storageClass: StorageClass): Promise<boolean> {
    try {
      return (await this.#parts.operations?.().mayBeReplaced(storageClass)) ?? false
    } catch {
      return true
    }
  }

  /** Undefined while that cannot be told. */
  async #following(): Promise<readonly string[] | undefined> {
    const { role, operations } = this.#parts
    if (operations === undefined || role().performance !== 'primary') return undefined
    return operations()
      .secondaryIds('performance')
      .catch(() => undefined)
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
