// The counts of messages that reads of a key show. Counts change once in a block of messages, while some clients read a
// key with every request: so numbers are cached until they change.
import assert from 'node:assert/strict'
import { CoherentCache } from '../../../lib/coherent-cache.ts'
import type { View } from '../../../storage/sealed-storage.ts'
import { CLUSTER_LIVES, CLUSTER_USE_FOLDER, readMountStanding, readUsed } from './cluster-use.ts'
import {
  CLUSTERS,
  type CountedSince,
  type Ledger,
  type MountStanding,
  OLD_LIVES,
  readLedger,
  type Standing,
  sealedAtMost,
  standingOf,
  USE_FOLDER,
} from './message-ledger.ts'
import { MESSAGE_LIMITS, type MessageLimits } from './message-limits.ts'

/** Numbers in the cache, at about 100 bytes each. */
const MAX_KEPT = 20_000

/** The member of the answer: by version, the most messages that it can have encrypted. */
export type EncryptionCounts = { readonly encryption_counts: Readonly<Record<string, number>> }

/** A version, as far as its count is concerned. */
type CountedVersion = { readonly number: number; readonly identity: string; readonly header: CountedSince }

/** The only name in the cache of what the mount knows of its clusters. */
const MOUNT = ''

/** Reads counts on one thread, for one mount. */
export class CountReader {
  readonly #storage: View
  readonly #limits: MessageLimits
  readonly #mount = new CoherentCache<MountStanding>(1)
  /** By the identities of versions, as the next one. */
  readonly #ledgers = new CoherentCache<Ledger>(MAX_KEPT)
  readonly #used = new CoherentCache<number>(MAX_KEPT)

  constructor(storage: View, limits: MessageLimits = MESSAGE_LIMITS) {
    this.#storage = storage
    this.#limits = limits
  }

  /** Returns the counts of versions whose messages are counted. @throws StorageCorrupt */
  async read(versions: readonly CountedVersion[]): Promise<EncryptionCounts> {
    const mount = await this.#mountStanding()
    const { lives, cluster } = mount
    const counts: Record<string, number> = {}
    for (const { number, identity, header } of versions) {
      const ledger = (await this.#ledgers.get(identity, (one) => readLedger(this.#storage, one))) ?? { granted: 0 }
      const used = await this.#used.get(identity, (one) => readUsed(this.#storage, one, cluster))
      const standing = standingOf(this.#limits, mount, header, ledger)
      counts[number] = sealedAtMost(this.#limits, standing, used ?? 0, lives)
    }
    return { encryption_counts: counts }
  }

  /** Returns what the mount knows of its clusters: it is kept until it changes. @throws StorageCorrupt */
  async #mountStanding(): Promise<MountStanding> {
    return (await this.#mount.get(MOUNT, () => readMountStanding(this.#storage))) ?? assert.fail()
  }

  /** Returns a function that says where versions stand, whose ledger entries the caller has read. */
  async standings(): Promise<(header: CountedSince, ledger: Ledger) => Standing> {
    const mount = await this.#mountStanding()
    return (header, ledger) => standingOf(this.#limits, mount, header, ledger)
  }

  /** Forgets the number whose entry changed; `path` is relative to the mount. */
  changed(path: string): void {
    if (path === CLUSTER_LIVES || path === CLUSTERS || path === OLD_LIVES) this.forgetMount()
    else if (path.startsWith(USE_FOLDER)) this.#ledgers.forget(path.slice(USE_FOLDER.length))
    else if (path.startsWith(CLUSTER_USE_FOLDER)) this.#used.forget(path.slice(CLUSTER_USE_FOLDER.length))
  }

  /** Forgets what the mount knows of its clusters. */
  forgetMount(): void {
    this.#mount.clear()
    // What counts as used follows from the name of the cluster.
    this.#used.clear()
  }

  reset(): void {
    this.forgetMount()
    this.#ledgers.clear()
  }
}
