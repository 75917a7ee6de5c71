// What the clients of a simulated set do: they write transactions of every class, and read from serving threads.
import { type Scope, systemScope, type Transaction } from '../../../src/storage/contract.ts'
import { Sealed, StorageClosed, StorageFailed, StorageFull, WriteNotAllowed } from '../../../src/storage/errors.ts'
import type { PseudoRandom } from '../../fixtures/pseudo-random.ts'
import { strayName } from './set-watcher.ts'
import { type Life, NotRunning, type SimulatedCluster } from './simulated-cluster.ts'
import type { SimulatedSet } from './simulated-set.ts'

export const SHARED_MOUNT = '6f1d2c3b-0a4e-4f58-9c67-7b8a9d0e1f23'
export const LOCAL_MOUNT = '0b8c6d5e-1f2a-4b3c-8d4e-5f6a7b8c9d0e'

export type Entry = { readonly scope: Scope; readonly key: string }

/** The scope of what is in one of the two mounts. */
export const mountScope = (mount: string): Scope => ({ namespace: 'root', mount, local: mount === LOCAL_MOUNT })
const inMount = (mount: string, name: string): Entry => ({
  scope: mountScope(mount),
  key: `root/logical/${mount}/${name}`,
})
const inSystem = (key: string): Entry => ({ scope: systemScope, key })

/** Parts of keys that no message of the family may have: of class ignored for both, and local for one. */
export const FORBIDDEN_NAMES = {
  dr: ['root/core/reload/', '/node/', 'root/core/replication/dr/'],
  performance: [
    ...['root/core/reload/', '/node/', 'root/core/replication/', 'root/sys/token/'],
    ...['/cluster/', LOCAL_MOUNT],
  ],
} as const

/** Errors that a crash, a full disk, a restore or a role bring with them. */
export const isOfTheWorld = (cause: unknown): boolean =>
  cause instanceof NotRunning ||
  cause instanceof StorageFull ||
  cause instanceof StorageFailed ||
  cause instanceof StorageClosed ||
  cause instanceof Sealed ||
  cause instanceof WriteNotAllowed

/** The clients of one run. */
export class SetClients {
  readonly #set: SimulatedSet
  readonly #random: PseudoRandom
  readonly #bytes
  /** How many names of each kind there are. */
  readonly #names: number
  /** An entry of what only some sets have. */
  readonly #other: ((cluster: SimulatedCluster) => Entry | undefined) | undefined

  constructor(set: SimulatedSet, names: number, other?: (cluster: SimulatedCluster) => Entry | undefined) {
    this.#other = other
    this.#set = set
    this.#random = set.choices('clients')
    this.#bytes = set.stream('values')
    this.#names = names
  }

  /** One transaction, of entries that a primary may write, or of those that are a performance secondary's own. */
  async write(cluster: SimulatedCluster, isPrimary: boolean, most = 4): Promise<void> {
    const { life } = cluster
    if (life?.isOpen !== true) return
    const { time, watcher, seams } = this.#set
    const entries = this.#random.several(1, most, () => this.#entryFor(cluster, isPrimary))
    const isDelete = entries.map(() => this.#random.chance(0.25))
    const values = entries.map(() => this.#bytes.bytes(8 + this.#random.int(60)))
    const startMs = time.nowMs
    const written = new Set<string>()
    const isCalm = !cluster.isFull
    const work = async (tx: Transaction): Promise<void> => {
      // What an attempt before this one wrote is lost.
      written.clear()
      watcher.knownOf(cluster).writing.add(written)
      for (const [at, { scope, key }] of entries.entries()) {
        const isGone = isDelete[at] && (await tx.get(key)) !== undefined
        const value = isGone ? undefined : life.barrier.seal(key, values[at] as Buffer)
        written.add(strayName(key, value))
        if (value === undefined) tx.delete(scope, key)
        else tx.put(scope, key, value)
      }
    }
    const committed = life.store.commit(work)
    const { index } = await committed.finally(() => watcher.knownOf(cluster).writing.delete(written))
    if (isPrimary) await seams.acknowledging?.(cluster)
    if (index !== undefined && isCalm && cluster.life === life) watcher.committedIn(cluster, time.nowMs - startMs)
    await this.#answer(cluster, life)
  }

  /** As a server does: the answer waits for synchronous secondaries, or is none. */
  async #answer(cluster: SimulatedCluster, life: Life): Promise<void> {
    const { synchronous } = life.room
    const { watcher } = this.#set
    const { historyId } = watcher.knownOf(cluster)
    const index = synchronous?.mark()?.index
    if (synchronous === undefined || index === undefined) return
    if ((await synchronous.confirmed(index)) === false || cluster.life !== life) return
    const promised = synchronous.told.filter(({ state }) => state === 'in-step' || state === 'waiting')
    for (const { id } of promised) watcher.promised(cluster, id, { historyId, index })
  }

  /** Changes an entry of a secondary behind its back. Returns the key. */
  async stray(cluster: SimulatedCluster): Promise<string | undefined> {
    const { life } = cluster
    const keys = this.#set.watcher
      .knownOf(cluster)
      .entries.keys.filter((key) => key.startsWith('root/logical/') && !key.includes('/node/'))
    const shared = keys.filter((key) => key.includes(SHARED_MOUNT) && !key.includes('/cluster/'))
    if (life === undefined || shared.length === 0) return undefined
    const key = this.#random.pick(shared)
    const scope = mountScope(SHARED_MOUNT)
    const value = this.#random.chance(0.25) ? undefined : life.barrier.seal(key, this.#bytes.bytes(20))
    const { straying } = this.#set.watcher.knownOf(cluster)
    const name = strayName(key, value)
    straying.add(name)
    await cluster.withoutGate(async () => {
      await life.store.transaction(async (tx) => {
        if (value === undefined) tx.delete(scope, key)
        else tx.put(scope, key, value)
      })
    })
    straying.delete(name)
    return key
  }

  async read(cluster: SimulatedCluster): Promise<void> {
    if (cluster.life?.isOpen !== true) return
    await cluster.life.cache.read(inMount(SHARED_MOUNT, `k${this.#random.int(this.#names)}`).key)
  }

  #entryFor(cluster: SimulatedCluster, isPrimary: boolean): Entry {
    const isOther = isPrimary && this.#other !== undefined && this.#random.chance(0.5)
    return (isOther ? this.#other?.(cluster) : undefined) ?? this.#entry(isPrimary)
  }

  #entry(isPrimary: boolean): Entry {
    const name = this.#random.int(this.#names)
    const own = [
      inMount(SHARED_MOUNT, `cluster/c${name}`),
      inMount(LOCAL_MOUNT, `k${name}`),
      inMount(SHARED_MOUNT, `node/n${name}`),
      inSystem(`root/sys/token/t${name}`),
      inSystem(`root/core/reload/r${name}`),
    ]
    const shared = [inMount(SHARED_MOUNT, `k${name}`), inSystem(`root/sys/policy/p${name}`)]
    return this.#random.pick(isPrimary ? [...own, ...shared, ...shared, ...shared] : own)
  }
}
