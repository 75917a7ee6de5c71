// One store on a simulated disk that crashes again and again, from a seed, while clients use it (store-clients.ts).
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { importSecret } from '../../src/crypto/primitives/secret-key.ts'
import { HISTORY_ID_BYTES } from '../../src/storage/backend.ts'
import { Barrier } from '../../src/storage/barrier.ts'
import { openStore } from '../../src/storage/commit/transactional-store.ts'
import type { Store, TreeBucket } from '../../src/storage/contract.ts'
import { StorageFailed } from '../../src/storage/errors.ts'
import { INDEX_GAP, withHistory } from '../../src/storage/log/histories.ts'
import { PAGE_ENTRY_BYTES } from '../../src/storage/log/tree.ts'
import { emptyTables } from '../../src/storage/memory-backend.ts'
import { createMemoryStore } from '../../src/storage/memory-store.ts'
import { MemoryTables } from '../../src/storage/memory-tables.ts'
import { verifyKeysOf } from '../../src/storage/verify-keys.ts'
import { Faults, faultyBackend } from '../conformance/faulty-backend.ts'
import { SeededRandom } from '../conformance/seeded-random.ts'
import { LEAF_KEY, requireTreeOfEntries } from '../conformance/storage-clause.ts'
import { type PseudoRandom, pseudoRandom } from '../fixtures/pseudo-random.ts'
import { steppedTime } from '../fixtures/stepped-time.ts'
import { faultsOfImage } from './disk-image.ts'
import { openSimulatedBackend, replaceStore, type StoreImage, storeDisk } from './simulated-backend.ts'
import type { CrashKind } from './simulated-disk.ts'
import { type Life, StoreClients } from './store-clients.ts'
import { type Restore, StoreModel } from './store-model.ts'

const START_MS = 1_700_000_000_000
const CLIENTS = 4
const LONGEST_LIFE_MS = 60
/** A store that has not come to rest after this time hangs. */
const MOST_MS_TO_REST = 2_000
/** Most syncs are quick, and some are not. */
const SYNC_MS = [0, 1, 1, 2, 5, 9]
/** Longer than the time between two saves of the tree. */
const SKIPPED_MS = 31_000

/** How a life ends when its time has come. The power goes last in any case; before all but `crash` clients rest. */
const ENDS = ['crash', 'crash', 'crash', 'rest', 'restore', 'close'] as const

/** The store, and what is known of it. */
export class CrashingStore {
  readonly #random: PseudoRandom
  readonly #bytes: SeededRandom
  readonly #barrier: Barrier
  readonly #clients: StoreClients
  readonly #model = new StoreModel()
  #image: StoreImage
  #nowMs = START_MS
  #skippedMs = 0
  #failure: unknown
  /** A line for each start: by them two runs of a seed are compared. */
  readonly starts: string[] = []

  constructor(seed: number) {
    this.#random = pseudoRandom(seed)
    this.#bytes = new SeededRandom(seed)
    const dataKey = { key: importSecret(Buffer.alloc(32, 2)), installedAtMs: 0 }
    this.#barrier = new Barrier(this.#bytes, { activeTerm: 1, terms: new Map([[1, dataKey]]) })
    this.#image = { tables: emptyTables(this.#bytes.bytes(HISTORY_ID_BYTES)) }
    const peer = createMemoryStore({ random: this.#bytes, clock: { nowMs: () => START_MS, monotonicMs: () => 0 } })
    peer.setLeafKey(LEAF_KEY)
    this.#clients = new StoreClients({
      random: this.#random,
      bytes: this.#bytes,
      barrier: this.#barrier,
      model: this.#model,
      peer,
      skipTime: () => {
        this.#skippedMs += SKIPPED_MS
      },
    })
  }

  /** True if the last crash left a write in part. */
  isTorn = false

  /** What the last crash has left. */
  get left(): MemoryTables {
    return this.#image.tables
  }

  /** What the verifier says of that. */
  faults(): string[] {
    return faultsOfImage(this.left, verifyKeysOf(this.#barrier, LEAF_KEY))
  }

  /** Checks what is there. @throws AssertionError */
  check(): void {
    assert.deepEqual(this.faults(), [])
    this.#model.check(this.left)
    const { index, chain } = this.left.position
    this.starts.push(`${index} ${chain.toString('hex')} ${this.left.entries.keys.length} ${this.left.buckets.length}`)
  }

  /** Starts the store, and lets it live until it crashes. */
  async live(crash: CrashKind = 'whole'): Promise<void> {
    const time = steppedTime(this.#nowMs)
    const disk = storeDisk(this.#image, { random: this.#random, timers: time.timers, syncMs: SYNC_MS })
    const faults = new Faults()
    const clock = { nowMs: time.clock.nowMs, monotonicMs: () => time.clock.monotonicMs() + this.#skippedMs }
    let onFatal = () => {}
    const options = { clock, onFatal: () => onFatal() }
    const store = await openStore(faultyBackend(openSimulatedBackend(disk), faults), options)
    const life: Life = { store, disk, time, isResting: false, isOver: false }
    onFatal = () => {
      life.isOver = true
    }
    store.setLeafKey(LEAF_KEY)
    await this.#requireDerived(life, faults)
    const clients = Array.from({ length: CLIENTS }, (_, number) => this.#clients.run(life, number))
    for (const client of clients) client.catch((cause: unknown) => this.#fail(life, cause))
    const endsAtMs = time.clock.nowMs() + 1 + this.#random.int(LONGEST_LIFE_MS)
    while (!life.isOver && time.clock.nowMs() < endsAtMs) await this.#step(life)
    const end = crash === 'torn' ? 'crash' : this.#random.pick(ENDS)
    // Most crashes come while something is being written.
    const isPatient = end === 'crash' && (crash === 'torn' || this.#random.chance(0.8))
    for (let ms = 0; isPatient && !life.isOver && !disk.isWriting && ms < LONGEST_LIFE_MS; ms++) await this.#step(life)
    if (!life.isOver && end !== 'crash') await this.#rest(life, Promise.all(clients), end, faults)
    life.isOver = true
    this.#nowMs = time.clock.nowMs()
    this.#image = disk.crash(crash)
    const { torn } = disk
    const isTorn = torn !== undefined && ![torn.before, torn.after].some((each) => isDeepStrictEqual(each, this.#image))
    this.isTorn = isTorn
  }

  /** Lets clients end what they have begun, and then the life in order. */
  async #rest(life: Life, clients: Promise<unknown>, end: 'rest' | 'restore' | 'close', faults: Faults): Promise<void> {
    life.isResting = true
    await this.#until(life, clients)
    await this.#requireDerived(life, faults)
    if (life.isOver) return
    if (end === 'restore') await this.#restore(life)
    else if (end === 'close') await this.#until(life, life.store.close())
  }

  /** A snapshot of the store takes its place, as the child history of it. The power may go meanwhile. */
  async #restore(life: Life): Promise<void> {
    const snapshot = await life.store.snapshot()
    const { position, histories } = snapshot
    const entries = await snapshot.stored('', Number.POSITIVE_INFINITY)
    await snapshot.close()
    await this.#until(life, life.store.close())
    if (life.isOver) return
    const id = this.#bytes.bytes(HISTORY_ID_BYTES)
    const index = (Math.floor(position.index / INDEX_GAP) + 2) * INDEX_GAP
    const parent = { id: position.historyId, index: position.index, chain: position.chain }
    const child = { id, epoch: position.epoch + 1, startIndex: index + 1, parent, startedAtMs: 0 }
    const tables = new MemoryTables({ index, histories: withHistory(histories, child) }, entries)
    const restore: Restore = {
      id,
      entries: new Map(entries.map(({ key, value }) => [key, value])),
      origin: Math.max(position.origins[0]?.index ?? 0, this.#model.baseOrigin),
      isDone: false,
    }
    this.#model.restore = restore
    const replaced = replaceStore(life.disk, tables).then(() => {
      restore.isDone = true
    })
    replaced.catch((cause: unknown) => this.#fail(life, cause))
    if (this.#random.chance(0.5)) await this.#until(life, replaced)
  }

  /** Tree and keys of buckets are those of the entries. No client may write meanwhile. */
  async #requireDerived(life: Life, faults: Faults): Promise<void> {
    await this.#until(life, requireTreeOfEntries(life.store, faults))
    await this.#until(life, requireKeysOfBuckets(life.store))
  }

  /** Waits in virtual time; no longer than the life lasts. */
  async #until(life: Life, work: Promise<unknown>): Promise<void> {
    let isDone = false
    work.then(
      () => {
        isDone = true
      },
      (cause: unknown) => this.#fail(life, cause),
    )
    for (let ms = 0; !isDone && !life.isOver; ms++) {
      assert.ok(ms < MOST_MS_TO_REST, 'the store comes to rest')
      await this.#step(life)
    }
  }

  async #step({ time }: Life): Promise<void> {
    await time.advance(1)
    if (this.#failure !== undefined) throw this.#failure
  }

  /** The life ends where the disk has failed: that is no fault of the store. */
  #fail(life: Life, cause: unknown): void {
    if (cause instanceof StorageFailed && (life.isOver || life.disk.hasFailed)) life.isOver = true
    else this.#failure ??= cause
  }
}

async function requireKeysOfBuckets(store: Store): Promise<void> {
  const { tree, snapshot, keysIn } = await store.image()
  const buckets = tree.pages().flatMap(({ digests, page, class: storageClass, scope }): TreeBucket[] =>
    Array.from({ length: digests.length / PAGE_ENTRY_BYTES }, (_, at) => {
      return { class: storageClass, scope, page, place: digests.readUInt8(at * PAGE_ENTRY_BYTES) }
    }),
  )
  assert.deepEqual(await keysIn(buckets), await snapshot.leaves('', Number.POSITIVE_INFINITY))
  await snapshot.close()
}
