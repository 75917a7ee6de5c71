// What operators of a simulated set do that filters are about: they set, change and remove filters, and make, move and
// remove mounts and namespaces on either side of what a filter lets through.
import { strict as assert } from 'node:assert'
import {
  coreFolder,
  decodeMountEntry,
  encodeMountEntry,
  mountKey,
  newMountEntry,
  unmountKey,
} from '../../../src/core/mount-entries.ts'
import {
  GONE_NAMESPACES,
  LEAVING_FOLDER,
  NAMESPACE,
  NAMESPACE_FOLDER,
  scopeOfNamespace,
} from '../../../src/namespaces/records.ts'
import { ROOT_NAMESPACE, type Scope, systemScope, type Transaction } from '../../../src/storage/contract.ts'
import type { PseudoRandom } from '../../fixtures/pseudo-random.ts'
import { type LivingClusters, unlessRefused } from './living-clusters.ts'
import type { PlacedMount } from './placed-entries.ts'
import { IDENTITIES_FOLDER, type ReachWatcher } from './reach-watcher.ts'
import { SHARED_MOUNT } from './set-clients.ts'
import type { Life, SimulatedCluster } from './simulated-cluster.ts'
import type { SimulatedSet } from './simulated-set.ts'

const MOST_MOUNTS = 6
const MOST_NAMESPACES = 3
const NAMES = 8
/** How often a client writes an identity of a namespace, where there is one. */
const IDENTITY = 0.2

/** Where identities of a namespace lie, beside those of all others. */
const identitiesOf = (namespace: string): string => `${IDENTITIES_FOLDER}entity/${namespace}/`

/** Works at the primary of a set for performance. */
export class FilterActions {
  readonly #set: SimulatedSet
  readonly #random: PseudoRandom
  readonly #living: LivingClusters
  readonly #reach: ReachWatcher
  /** The ids of secondaries. */
  readonly #ids: readonly string[]
  readonly #bytes
  #made = 0

  constructor(set: SimulatedSet, random: PseudoRandom, living: LivingClusters, ids: readonly string[]) {
    this.#set = set
    this.#random = random
    this.#living = living
    this.#ids = ids
    this.#reach = set.watcher.reach ?? assert.fail('filters are watched')
    this.#bytes = set.stream('mounts and namespaces')
  }

  /** What a set has before anything happens: the mount that clients use, two more, and a namespace with one. */
  async begin(primary: SimulatedCluster): Promise<void> {
    await this.#write(primary, (tx, life) => this.#putMount(tx, life, 'shared/', ROOT_NAMESPACE, SHARED_MOUNT))
    for (let mounts = 0; mounts < 2; mounts++)
      await this.#write(primary, (tx, life) => this.#putMount(tx, life, this.#newName(), ROOT_NAMESPACE))
    await this.#write(primary, (tx, life) => this.#putNamespace(tx, life))
    const [namespace] = this.#reach.placedAt(primary).namespaces
    if (namespace !== undefined)
      await this.#write(primary, (tx, life) => this.#putMount(tx, life, this.#newName(), namespace.id))
  }

  /** One thing that an operator may want. */
  act(leader: SimulatedCluster): void {
    if (leader.life?.isOpen !== true) return
    const kind = this.#random.int(100)
    if (kind < 35) this.#filter(leader)
    else if (kind < 45) this.#unfilter(leader)
    else this.#begin(leader, this.#random.pick(['make', 'make', 'move', 'move', 'remove', 'room', 'leave'] as const))
  }

  /** An entry of some mount, or an identity of some namespace, for a client to write. */
  entry(cluster: SimulatedCluster): { readonly scope: Scope; readonly key: string } | undefined {
    if (cluster.life?.isOpen !== true) return undefined
    const { mounts, namespaces } = this.#reach.placedAt(cluster)
    const open = namespaces.filter(({ isLeaving }) => !isLeaving)
    if (open.length > 0 && this.#random.chance(IDENTITY))
      return { scope: systemScope, key: `${identitiesOf(this.#random.pick(open).id)}k${this.#random.int(NAMES)}` }
    if (mounts.length === 0) return undefined
    const { uuid, home } = this.#random.pick(mounts)
    const key = `${home}/logical/${uuid}/k${this.#random.int(NAMES)}`
    return { scope: { namespace: home, mount: uuid, local: false }, key }
  }

  #filter(leader: SimulatedCluster): void {
    const { mounts, namespaces } = this.#reach.placedAt(leader)
    const within = new Map(namespaces.map(({ id, path }) => [id, path]))
    const there = [
      ...mounts.map(({ namespace, path }) => (within.get(namespace) ?? '') + path),
      ...namespaces.map(({ path }) => path),
      // One that may be made later.
      `m${this.#made + this.#random.int(3)}/`,
    ]
    const paths = [...new Set(this.#random.several(1, 3, () => this.#random.pick(there)))]
    const [id, mode] = [this.#random.pick(this.#ids), this.#random.pick(['allow', 'deny'] as const)]
    this.#set.watcher.note(`filter of ${id}: ${mode} ${paths.join()}`)
    const { filters } = leader.life?.room.operations ?? assert.fail('it is open')
    this.#living.begin(
      leader,
      'a filter',
      unlessRefused(() => filters.write(id, { mode, paths })),
    )
  }

  #unfilter(leader: SimulatedCluster): void {
    const id = this.#random.pick(this.#ids)
    this.#set.watcher.note(`no filter of ${id}`)
    const { filters } = leader.life?.room.operations ?? assert.fail('it is open')
    this.#living.begin(
      leader,
      'no filter',
      unlessRefused(() => filters.remove(id)),
    )
  }

  #begin(leader: SimulatedCluster, what: 'make' | 'move' | 'remove' | 'room' | 'leave'): void {
    const { mounts, namespaces } = this.#reach.placedAt(leader)
    const open = namespaces.filter(({ isLeaving }) => !isLeaving)
    const mount = mounts.length === 0 ? undefined : this.#random.pick(mounts)
    const to = this.#random.pick([ROOT_NAMESPACE, ...open.map(({ id }) => id)])
    const of = open.length === 0 ? undefined : this.#random.pick(open)
    this.#set.watcher.note(`${what} at ${leader.name}`)
    if (what === 'make' && mounts.length < MOST_MOUNTS)
      this.#do(leader, (tx, life) => this.#putMount(tx, life, this.#newName(), to))
    else if (what === 'move' && mount !== undefined) this.#do(leader, (tx, life) => this.#move(tx, life, mount, to))
    else if (what === 'remove' && mount !== undefined && mount.uuid !== SHARED_MOUNT) this.#remove(leader, mount)
    else if (what === 'room' && open.length < MOST_NAMESPACES)
      this.#do(leader, (tx, life) => this.#putNamespace(tx, life))
    else if (
      what === 'leave' &&
      of !== undefined &&
      !mounts.some(({ namespace, home }) => [namespace, home].includes(of.id))
    )
      this.#leave(leader, of.id)
  }

  #do(leader: SimulatedCluster, work: (tx: Transaction, life: Life) => Promise<void>): void {
    this.#living.begin(leader, 'a change of mounts', this.#write(leader, work))
  }

  async #write({ life }: SimulatedCluster, work: (tx: Transaction, life: Life) => Promise<void>): Promise<void> {
    if (life?.isOpen === true) await life.store.commit((tx) => work(tx, life))
  }

  /** Their order is that of the names. */
  #newName(): string {
    return `m${this.#made++}/`
  }

  async #putMount(tx: Transaction, life: Life, path: string, namespace: string, uuid?: string): Promise<void> {
    const given = { path, type: 'transit', kind: 'secret', description: '', namespace } as const
    const entry = newMountEntry({ random: this.#bytes } as never, uuid === undefined ? given : { ...given, uuid })
    const key = coreFolder(namespace) + mountKey(entry)
    tx.put(scopeOfNamespace(namespace), key, life.barrier.seal(key, encodeMountEntry(entry)))
  }

  async #move(tx: Transaction, life: Life, { uuid, namespace, home }: PlacedMount, to: string): Promise<void> {
    const key = `${coreFolder(namespace)}mounts/${uuid}`
    const stored = await tx.get(key)
    if (stored === undefined) return
    const moved = { ...decodeMountEntry(life.barrier.open(key, stored)), namespace: to, home, path: this.#newName() }
    const next = coreFolder(to) + mountKey(moved)
    if (next !== key) tx.delete(scopeOfNamespace(namespace), key)
    tx.put(scopeOfNamespace(to), next, life.barrier.seal(next, encodeMountEntry(moved)))
  }

  /** As the program removes a mount: its entry moves, then its data go, and then that entry. */
  #remove(leader: SimulatedCluster, { uuid, namespace, home }: PlacedMount): void {
    const key = `${coreFolder(namespace)}mounts/${uuid}`
    const scope = scopeOfNamespace(namespace)
    const leave = async (tx: Transaction, life: Life): Promise<void> => {
      const stored = await tx.get(key)
      if (stored === undefined) return
      const entry = decodeMountEntry(life.barrier.open(key, stored))
      const leaving = coreFolder(namespace) + unmountKey(entry)
      tx.delete(scope, key)
      tx.put(scope, leaving, life.barrier.seal(leaving, encodeMountEntry(entry)))
    }
    const clear = async (tx: Transaction): Promise<void> => {
      const folder = `${home}/logical/${uuid}/`
      for (let name = 0; name < NAMES; name++)
        if ((await tx.get(`${folder}k${name}`)) !== undefined)
          tx.delete({ namespace: home, mount: uuid, local: false }, `${folder}k${name}`)
      const leaving = `${coreFolder(namespace)}unmounting/${uuid}`
      if ((await tx.get(leaving)) !== undefined) tx.delete(scope, leaving)
    }
    const work = async (): Promise<void> => {
      await this.#write(leader, leave)
      await this.#set.pause(this.#random.pick([0, 5, 100]))
      await this.#write(leader, clear)
    }
    this.#living.begin(leader, 'a removal of a mount', work())
  }

  async #putNamespace(tx: Transaction, life: Life): Promise<void> {
    const [id, name] = [`s${this.#bytes.bytes(4).toString('hex')}`, `n${this.#made++}`]
    const stored = { format: 1, id, uuid: this.#bytes.uuid(), parent: ROOT_NAMESPACE, name } as const
    const key = `${NAMESPACE_FOLDER}${ROOT_NAMESPACE}/${name}`
    const value = NAMESPACE.encode({ ...stored, customMetadata: {}, lockDigest: null })
    tx.put(systemScope, key, life.barrier.seal(key, value))
    const policy = `${id}/sys/policy/p`
    tx.put(scopeOfNamespace(id), policy, life.barrier.seal(policy, this.#bytes.bytes(20)))
    const person = `${identitiesOf(id)}k0`
    tx.put(systemScope, person, life.barrier.seal(person, this.#bytes.bytes(20)))
  }

  /** As the program deletes a namespace. */
  #leave(leader: SimulatedCluster, id: string): void {
    const found = this.#reach.placedAt(leader).namespaces.find((one) => one.id === id)
    if (found === undefined) return
    const [key, leaving] = [NAMESPACE_FOLDER + found.entry, LEAVING_FOLDER + found.entry]
    const leave = async (tx: Transaction, life: Life): Promise<void> => {
      const stored = await tx.get(key)
      if (stored === undefined) return
      tx.delete(systemScope, key)
      tx.put(systemScope, leaving, life.barrier.seal(leaving, life.barrier.open(key, stored)))
    }
    const clear = async (tx: Transaction, life: Life): Promise<void> => {
      if ((await tx.get(leaving)) === undefined) return
      const policy = `${id}/sys/policy/p`
      if ((await tx.get(policy)) !== undefined) tx.delete(scopeOfNamespace(id), policy)
      for (let name = 0; name < NAMES; name++) {
        const person = `${identitiesOf(id)}k${name}`
        if ((await tx.get(person)) !== undefined) tx.delete(systemScope, person)
      }
      tx.delete(systemScope, leaving)
      const gone = GONE_NAMESPACES + id
      tx.put(systemScope, gone, life.barrier.seal(gone, Buffer.alloc(0)))
    }
    const work = async (): Promise<void> => {
      await this.#write(leader, leave)
      await this.#set.pause(this.#random.pick([0, 5, 100]))
      await this.#write(leader, clear)
    }
    this.#living.begin(leader, 'a removal of a namespace', work())
  }
}
