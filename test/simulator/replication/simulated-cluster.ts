// One cluster of a simulated set: a disk, and from each start to the next crash a store on it, its keys, the links and
// what answers them, and a thread that serves. All of it is the program's own code, but for the seal (model-seal.ts).
import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import { ACTIVE_PRIMARY, type NodeRole } from '../../../src/api/node-role.ts'
import type { Activation, AlsoWritten } from '../../../src/assembly/activation.ts'
import { emptied } from '../../../src/assembly/emptied-store.ts'
import type { WritingParts } from '../../../src/assembly/node-parts.ts'
import { buildReplication, type SealForLinks } from '../../../src/assembly/replication/build-replication.ts'
import type { ReplicationRoom } from '../../../src/assembly/replication/replication-room.ts'
import { roleUnder } from '../../../src/assembly/replication/stored-role.ts'
import { RoleHolder } from '../../../src/assembly/role-holder.ts'
import { exportSecret, importSecret } from '../../../src/crypto/primitives/secret-key.ts'
import type { World } from '../../../src/lib/world.ts'
import { LinkHost } from '../../../src/replication/link/link-host.ts'
import type { LinkControl, LinkOwner } from '../../../src/replication/link/link-sides.ts'
import { Barrier } from '../../../src/storage/barrier.ts'
import { openStore, type StoreOptions } from '../../../src/storage/commit/transactional-store.ts'
import type { LeftStore } from '../../../src/storage/driver.ts'
import type { Keyring } from '../../../src/storage/keyring.ts'
import { MemoryTables } from '../../../src/storage/memory-tables.ts'
import { ReplaceableStore } from '../../../src/storage/replaceable-store.ts'
import { SealedStorage } from '../../../src/storage/sealed-storage.ts'
import { encodeKeyUse, firstUses, KEY_USE } from '../../../src/system/seal/key-use.ts'
import { KeyringRotation } from '../../../src/system/seal/keyring-rotation.ts'
import type { Seal } from '../../../src/system/seal/seal.ts'
import { BundleRefused } from '../../../src/system/seal/seal-bundle.ts'
import { openKeyring, putRecord } from '../../../src/system/seal/seal-records.ts'
import { sealAnew } from '../../../src/system/seal/sealed-anew.ts'
import { TreeChecks } from '../../../src/system/tree-checks.ts'
import { publishIndex } from '../../../src/threads/change-follower.ts'
import { openSimulatedBackend, replaceStore, type StoreDisk, type StoreImage, storeDisk } from '../simulated-backend.ts'
import type { VirtualThread } from '../virtual-time.ts'
import { bundleOf, openedKeys, putRootKey, putSealId, sealId } from './model-seal.ts'
import { ServingCache } from './serving-cache.ts'
import type { SimulatedSet } from './simulated-set.ts'
import { watchedLinks } from './watched-links.ts'

const PORT = 8_201
/** Versions of the program, of which a primary may not be newer than those that follow it. */
export const OLDER_VERSION = '1.1.0'
export const NEWER_VERSION = '1.2.0'
/** One start of so many takes the look that a real one takes. */
const LOOKS = 3
/** More than what an activation seals. */
const SEALED_AT_ACTIVATION = 1_000
/** Most syncs are quick, and some are not. */
const SYNC_MS = [0, 0, 1, 1, 2, 5, 9]

/** A cluster from one start to the next crash. */
export type Life = {
  readonly thread: VirtualThread
  readonly disk: StoreDisk
  readonly store: ReplaceableStore
  readonly barrier: Barrier
  readonly rotation: KeyringRotation
  readonly room: ReplicationRoom
  readonly host: LinkHost
  readonly cache: ServingCache
  readonly world: World
  readonly version: string
  /** The store writes no more. */
  hasFailed: boolean
  /** It is open: clients may write. */
  isOpen: boolean
}

/** The cluster is off. */
export class NotRunning extends Error {}

/** One cluster. */
export class SimulatedCluster {
  readonly name: string
  readonly set: SimulatedSet
  image: StoreImage
  life: Life | undefined
  /** Bytes that its disk has room for from now on. */
  #roomBytes = Number.POSITIVE_INFINITY
  /** Its store sees this much more of time than has passed: so the tree is saved without waiting. */
  skippedMs = 0
  /** How far its wall clock is ahead. */
  clockAheadMs = 0
  /** The version of its program, from the next start on. */
  version = OLDER_VERSION
  #starts = 0
  #rootKey: KeyObject | undefined
  #sealId = ''
  role: NodeRole = ACTIVE_PRIMARY

  constructor(set: SimulatedSet, name: string, image: StoreImage) {
    this.set = set
    this.name = name
    this.image = image
  }

  get address(): string {
    return `https://${this.name}:${PORT}`
  }

  set roomBytes(bytes: number) {
    this.#roomBytes = bytes
    if (this.life !== undefined) this.life.disk.roomBytes = bytes
  }

  get isFull(): boolean {
    return this.#roomBytes !== Number.POSITIVE_INFINITY
  }

  /** Starts, and opens what is there. @throws what the disk does to it */
  async start(): Promise<void> {
    const { set, name } = this
    const thread = set.time.newThread()
    const start = `${name} ${++this.#starts}`
    const request = async (): Promise<never> => {
      throw new Error('There is no network')
    }
    const clock = { ...thread.clock, nowMs: () => thread.clock.nowMs() + this.clockAheadMs }
    const world: World = { ...thread, clock, random: set.stream(start), outbound: { request } }
    const disk = storeDisk(this.image, {
      random: set.choices(`disk of ${start}`),
      timers: set.diskTimers,
      syncMs: SYNC_MS,
    })
    disk.roomBytes = this.#roomBytes
    const { version } = this
    const life = { thread, disk, world, version, hasFailed: false, isOpen: false } as unknown as {
      -readonly [K in keyof Life]: Life[K]
    }
    this.life = life
    const options = this.#storeOptions(life)
    const store = new ReplaceableStore(
      await openStore(set.backend(openSimulatedBackend(disk, this.#isLookedAt())), options),
    )
    const { scopes } = set.seams
    const all = store.scopes.bind(store)
    if (scopes !== undefined) store.scopes = async () => scopes(await all())
    life.store = store
    life.barrier = new Barrier(world.random)
    life.cache = new ServingCache(store, set.stream(`thread of ${start}`))
    const storage = new SealedStorage(store, life.barrier, store)
    const serving = set.time.newThread()
    const log = (): void => {}
    life.rotation = new KeyringRotation({
      store,
      storage,
      world,
      log,
      rootKey: () => this.#opened(),
      nodeRole: () => this.role,
      announce: async (keyring) => {
        const lateMs = set.seams.announcedLateMs
        if (lateMs === undefined) await serving.ticks.next()
        else void set.pause(lateMs).then(() => life.cache.setKeyring(keyring))
        if (lateMs === undefined) life.cache.setKeyring(keyring)
      },
      onNewTerm: async () => {},
    })
    const control = (): LinkControl => life.host
    life.room = buildReplication(
      {
        world,
        store,
        log,
        facts: { apiAddress: `https://${name}:8200` },
        links: {
          control: set.controlOf(this, {
            play: (state) => control().play({ ...state, facts: { ...state.facts, version } }),
            disconnect: (family, id) => control().disconnect(family, id),
            knock: (knock) => control().knock({ ...knock, facts: { ...knock.facts, version } }),
            handOver: (family, withinMs) => control().handOver(family, withinMs),
            takeBack: (family) => control().takeBack(family),
            ask: (call, body) => control().ask(call, body),
            sealChanged: (sealId) => control().sealChanged(sealId),
            recover: (family) => control().recover(family),
            compareAgain: (family) => control().compareAgain(family),
            status: () => control().status(),
          }),
          primaryApi: NO_API,
          listenAt: [{ host: name, port: PORT }],
          clusterAddress: () => this.address,
          synchronous: set.synchronous,
        },
      } as unknown as WritingParts,
      {
        // Secondaries for disaster recovery hand nothing over.
        core: { answersTo: () => assert.fail('nothing is handed over') },
        mounts: { all: () => [], withUuid: () => undefined, generation: 0 },
        namespaces: { below: () => [], generation: 0 },
        invalidation: { register: () => {} },
        primaryAddress: () => '',
        storage,
        leases: { revokeAllOf: async () => {} },
        services: {
          treeChecks: new TreeChecks({
            storage,
            invalidation: { register: () => {} },
            store,
            clock,
            log,
            nodeRole: () => this.role,
            compareAgain: (family) => control().compareAgain(family),
          }),
        },
      },
      this.#seal(life),
    )
    set.network.host(name).clock = clock
    const links = watchedLinks(
      set.network.host(name).links,
      (sent) => set.watcher.sent(this, sent),
      () => set.watcher.heard(this),
    )
    const owner = set.ownerOf(this, life.room.owner as LinkOwner)
    life.host = new LinkHost(
      { world: { ...world, links }, owner, store: set.sourceOf(this, store), log, counts: () => () => {} },
      set.times,
      set.limits,
    )
    store.onCommit((change) => {
      set.watcher.committed(this, change)
      life.cache.committed(change)
    })
    await this.#open(life)
  }

  /** The power goes (peers are told nothing), or only the program dies. */
  crash(how: 'power' | 'kill'): void {
    const { life, set } = this
    if (life === undefined) return
    life.thread.kill()
    this.image = life.disk.crash()
    this.life = undefined
    const host = set.network.host(this.name)
    if (how === 'power') host.crash()
    else host.kill()
    set.watcher.crashed(this)
  }

  /** The shares are replaced: secondaries get them. */
  async rekey(): Promise<void> {
    const life = this.#living()
    const id = life.world.random.uuid()
    await life.store.transaction(async (tx) => putSealId(tx, id))
    this.#sealId = id
    life.room.rekeyed()
  }

  get sealId(): string {
    return this.#sealId
  }

  /**
   * Replaces the store by another, durably and in one step, and opens that. The links are closed meanwhile.
   * @throws what the disk does to it; the former store is open then
   */
  async replace(tablesOf: () => Promise<MemoryTables>): Promise<void> {
    const life = this.#living()
    life.isOpen = false
    life.room.removal.stop()
    life.room.close()
    await life.room.forget()
    // What the program puts together for it is a store in memory of this process.
    const tables = await this.set.time.paced(tablesOf)
    await life.store.putAway()
    try {
      await replaceStore(life.disk, tables)
    } finally {
      // Where not even the former store can be opened, the process ends.
      await this.#reopen(life).catch((cause: unknown) => {
        life.hasFailed = true
        throw cause
      })
    }
  }

  /** Lets `work` write what the role of the cluster forbids. */
  async withoutGate(work: () => Promise<unknown>): Promise<void> {
    const { store } = this.#living()
    await store.setWritable(() => true)
    try {
      await this.set.watcher.whileTaking(this, work)
    } finally {
      await this.#keepGate(store)
    }
  }

  /** The look of a start is left out now and then, for the sake of time. */
  #isLookedAt(): boolean {
    return this.#starts % LOOKS === 0
  }

  #living(): Life {
    if (this.life === undefined) throw new NotRunning(`${this.name} is not running`)
    return this.life
  }

  #opened(): KeyObject {
    if (this.#rootKey === undefined) throw new Error(`${this.name} is not open`)
    return this.#rootKey
  }

  #storeOptions(life: { hasFailed: boolean; readonly world: World; readonly cache: ServingCache }): StoreOptions {
    const { clock } = life.world
    const { set } = this
    return {
      clock: { nowMs: clock.nowMs, monotonicMs: () => clock.monotonicMs() + this.skippedMs },
      ticks: life.world.ticks,
      timers: life.world.timers,
      retention: set.retention,
      holdCaps: set.seams.holdCaps ?? set.holdCaps,
      onFatal: () => {
        life.hasFailed = true
      },
      onCommitting: (index) => {
        if (set.seams.isUnpublished?.(this) !== true) publishIndex(life.cache.published, index)
      },
    }
  }

  async #reopen(life: Life): Promise<void> {
    life.store.putBack(
      await openStore(this.set.backend(openSimulatedBackend(life.disk, this.#isLookedAt())), this.#storeOptions(life)),
    )
    await this.#open(life)
  }

  async #open(life: Life): Promise<void> {
    const { store, world, rotation, barrier, cache, room } = life
    await this.set.watcher.opened(this, life)
    const { rootKey, keyring, leafKey } = await openedKeys(store, world.random)
    this.#rootKey = rootKey
    this.#sealId = await sealId(store)
    store.setLeafKey(leafKey)
    this.role = (await roleUnder(keyring, store, world.random))?.role ?? ACTIVE_PRIMARY
    await this.#keepGate(store)
    const opened: Keyring = await rotation.open(keyring)
    barrier.setKeyring(opened)
    cache.setKeyring(opened)
    await cache.start()
    if (this.set.synchronous.ids.length > 0) await room.expect()
    life.isOpen = true
    await room.open()
    this.#keepRemoval(life)
  }

  /** The gate of the store is that of a server in this role. */
  #keepGate(store: ReplaceableStore): Promise<void> {
    return new RoleHolder(store).open(this.role)
  }

  /** As own work of a server: a DR secondary has a copy of what another one removes. */
  #keepRemoval({ room, isOpen }: Life): void {
    const { dr } = this.role
    if (isOpen && dr !== 'secondary' && dr !== 'bootstrapping') room.removal.start()
    else room.removal.stop()
  }

  get #sealTold(): SealForLinks['seal'] {
    const cluster = this
    return {
      status: () => ({ cluster: { id: cluster.name, name: cluster.name } }) as ReturnType<Seal['status']>,
      get id() {
        return cluster.#sealId
      },
      get rootKey() {
        return cluster.#opened()
      },
      requireOwnRoot: ({ rootKey }) => {
        if (exportSecret(cluster.#opened()).equals(rootKey.reveal())) return
        throw new BundleRefused('set', 'The seal bundle belongs to other data')
      },
    }
  }

  #seal(life: Life): SealForLinks {
    return {
      seal: this.#sealTold,
      bundle: async () => bundleOf(this.#opened(), this.#sealId),
      follow: async ({ id }, instead) => {
        if (instead !== this.#sealId || id === instead) return false
        await life.store.transaction(async (tx) => putSealId(tx, id))
        this.#sealId = id
        life.room.rekeyed()
        return true
      },
      rotation: this.set.rotationOf(this, life.rotation),
      activate: (activation, also) => this.#activate(life, activation, also),
      changeRole: async ({ role }) => {
        this.role = role
        await this.#keepGate(life.store)
        this.#keepRemoval(life)
        this.set.watcher.roles.plays(this)
        this.set.watcher.performance.plays(this)
      },
    }
  }

  /** As a server does: data, keys and role change in one durable step. */
  async #activate(life: Life, { bundle, keyring, leafKey }: Activation, also: AlsoWritten): Promise<void> {
    const { store, world, barrier } = life
    const { random } = world
    const present = barrier.keyring as Keyring
    const rootKey = importSecret(bundle.rootKey.reveal())
    const next = openKeyring(rootKey, keyring)
    const theirs = new Barrier(random, next)
    const clear = theirs.open('root/core/leaf-key', leafKey)
    let left: LeftStore | undefined
    const leaveOnly = async (leaving: LeftStore): Promise<void> => {
      left = leaving
    }
    await this.replace(async () => {
      const make = emptied({ store, leaveOnly, world, keep: { keyring, leafKey }, also })
      await make(async (tx, written) => {
        await sealAnew(tx, random, present, next)
        await written?.(tx, theirs)
        putRootKey(tx, bundle)
        putRecord(tx, random, KEY_USE, rootKey, encodeKeyUse(firstUses(next, SEALED_AT_ACTIVATION)))
      }, clear)
      const { entries, ...at } = left ?? assert.fail('what is left was told')
      // What a cluster without a set had before counts no more, even if the step fails.
      this.set.watcher.activated(this)
      return new MemoryTables(at, entries)
    })
  }
}

const NO_API = {
  unwrap: async () => ({ kind: 'failed', sentence: 'There is no API here' }) as const,
  look: async () => ({ kind: 'failed', sentence: 'There is no API here' }) as const,
}
