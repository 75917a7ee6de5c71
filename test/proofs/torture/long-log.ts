// A store in SQLite whose log grows as long as a test wants it, by random transactions over entries of all classes. Its
// values are sealed, so that everything can be verified. It goes through promotions and restores.
import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { TestContext } from 'node:test'
import { importSecret } from '../../../src/crypto/primitives/secret-key.ts'
import { eventLoop } from '../../../src/lib/world.ts'
import { HISTORY_ID_BYTES } from '../../../src/storage/backend.ts'
import { Barrier, sealRecord } from '../../../src/storage/barrier.ts'
import { isBehindBarrier } from '../../../src/storage/classes.ts'
import { type Scope, type Store, systemScope, type Transaction } from '../../../src/storage/contract.ts'
import type { StoreVerifyReport } from '../../../src/storage/driver.ts'
import { LEAST_KEYRING_BYTES } from '../../../src/storage/keyring.ts'
import { readSnapshot, writeSnapshot } from '../../../src/storage/snapshot/snapshot-stream.ts'
import { checkStaged } from '../../../src/storage/snapshot/staged-check.ts'
import { stageSnapshot } from '../../../src/storage/snapshot/staged-store.ts'
import { SqliteStaging } from '../../../src/storage/sqlite/sqlite-staging.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../../src/storage/sqlite/sqlite-store.ts'
import { verifyStore } from '../../../src/storage/verify/verify.ts'
import { verifyKeysOf } from '../../../src/storage/verify-keys.ts'
import { SeededRandom } from '../../conformance/seeded-random.ts'
import type { PseudoRandom } from '../../fixtures/pseudo-random.ts'

const LEAF_KEY = Buffer.alloc(32, 1)
const MOUNT = '6f1d2c3b-0a4e-4f58-9c67-7b8a9d0e1f23'
const LOCAL_MOUNT = 'b7e6a1d2-55c4-4d0b-8f7e-3a2b1c0d9e8f'
const mountScope: Scope = { namespace: 'root', mount: MOUNT, local: false }
const localScope: Scope = { namespace: 'root', mount: LOCAL_MOUNT, local: true }
const FOLDERS: readonly (readonly [Scope, string])[] = [
  [mountScope, `root/logical/${MOUNT}/key/`],
  [mountScope, `root/logical/${MOUNT}/key/`],
  [mountScope, `root/logical/${MOUNT}/key/`],
  [systemScope, 'root/sys/policy/'],
  [localScope, `root/logical/${LOCAL_MOUNT}/key/`],
  [systemScope, 'root/core/reload/'],
]
/** Transactions under way at once, as many callers make them. */
const AT_ONCE = 256
/** After so long the tree is saved, and the log can be shortened up to there. */
const CHECKPOINT_MS = 30_000
const CHECKPOINTS = 20
const ROOT_KEY = importSecret(Buffer.alloc(32, 3))

/** Prints what the steps of a test took. */
export class Steps {
  readonly #context: TestContext

  constructor(context: TestContext) {
    this.#context = context
  }

  async take<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const cpu = process.cpuUsage()
    const startMs = performance.now()
    const result = await work()
    const seconds = (performance.now() - startMs) / 1e3
    const { user, system } = process.cpuUsage(cpu)
    const took = `${seconds.toFixed(2)} s, ${((user + system) / 1e6).toFixed(2)} s of the processor`
    const peakMebibytes = Math.round(process.resourceUsage().maxRSS / 1024)
    this.#context.diagnostic(`${name}: ${took}; peak of memory so far ${peakMebibytes} MiB`)
    return result
  }
}

type Options = { readonly directory: string; readonly random: PseudoRandom; readonly names: number }
/** How the store is opened: how long its log is kept. */
export type Opening = Pick<SqliteStoreOptions, 'retention' | 'holdCaps'>

/** One store over all its reopenings. */
export class LongLog {
  readonly directory: string
  readonly #random: PseudoRandom
  readonly #names: number
  readonly #seeded = new SeededRandom(1)
  readonly #barrier: Barrier
  readonly #noise: Buffer
  #store: Store | undefined
  #ms = 1_700_000_000_000

  constructor({ directory, random, names }: Options) {
    this.directory = directory
    this.#random = random
    this.#names = names
    this.#noise = this.#seeded.bytes(65_536)
    const terms = new Map([[1, { key: importSecret(Buffer.alloc(32, 2)), installedAtMs: 0 }]])
    this.#barrier = new Barrier(this.#seeded, { activeTerm: 1, terms })
  }

  get store(): Store {
    if (this.#store === undefined) throw new Error('The store is not open')
    return this.#store
  }

  /** Opens the store, anew if it is open. */
  async open(opening: Opening = {}): Promise<Store> {
    await this.#store?.close()
    const clock = { nowMs: () => this.#ms, monotonicMs: () => this.#ms }
    this.#store = await openSqliteStore({ directory: this.directory, clock, random: this.#seeded, ...opening })
    this.#store.setLeafKey(LEAF_KEY)
    return this.#store
  }

  async close(): Promise<void> {
    await this.#store?.close()
    this.#store = undefined
  }

  /** Writes what a store needs that is to be unsealed: a snapshot without it cannot be restored. One record. */
  async begin(): Promise<void> {
    await this.store.transaction(async (tx) => {
      this.#put(tx, systemScope, 'root/core/cluster', Buffer.from('{"format":1}'))
      this.#put(tx, systemScope, 'root/core/leaf-key', LEAF_KEY)
      this.#put(tx, systemScope, 'root/core/keyring', Buffer.alloc(LEAST_KEYRING_BYTES, 4))
      this.#put(tx, systemScope, 'root/core/root-key', Buffer.alloc(32, 5))
      tx.put(systemScope, 'root/core/seal-config', Buffer.from('{}'))
    })
  }

  /** Adds so many records. The tree is saved again and again on the way. */
  async write(records: number): Promise<void> {
    for (let written = 0; written < records; this.#ms += CHECKPOINT_MS) {
      const end = Math.min(records, written + Math.ceil(records / CHECKPOINTS))
      while (written < end) {
        const transactions = Array.from({ length: Math.min(AT_ONCE, end - written) }, () => this.#change())
        // A delete of what is not there leaves no record.
        written += (await Promise.all(transactions)).filter((index) => index !== undefined).length
      }
    }
  }

  /** Adds one record, which begins a history of its own. */
  async promote(): Promise<void> {
    const next = { id: this.#seeded.bytes(HISTORY_ID_BYTES), knownIndex: 0, knownEpoch: 0 }
    await this.store.beginHistory(async (tx) => this.#put(tx, ...this.#place(), this.#value()), next)
  }

  /** Saves a snapshot of the whole store into the file. */
  async save(file: string): Promise<void> {
    const { bucketKey } = this.#keys()
    const open = () => this.store.snapshot()
    const source = { open, barrier: this.#barrier, bucketKey, clusterId: 'cluster', nowMs: this.#ms, ticks: eventLoop }
    await pipeline(writeSnapshot(source), createWriteStream(file))
  }

  /** Restores it: the store goes on in a child of the history of the snapshot. */
  async restore(file: string): Promise<void> {
    const staging = new SqliteStaging(this.directory)
    const historyId = this.#seeded.bytes(HISTORY_ID_BYTES)
    await stageSnapshot(await readSnapshot(createReadStream(file)), {
      staging,
      position: await this.store.position(),
      historyId,
      nowMs: this.#ms,
      ticks: eventLoop,
      openKeyring: () => this.#barrier,
      inspect: () => {},
      isLeftOut: () => false,
      added: async () => [],
      check: (check) => checkStaged(staging, check, this.#seeded),
    })
    await this.close()
    await staging.adopt()
    await this.open()
  }

  /** Checks everything; the faults are the first few sentences. */
  verify(): StoreVerifyReport & { readonly faults: readonly string[] } {
    const faults: string[] = []
    const onFinding = (sentence: string): void => {
      if (faults.length < 10) faults.push(sentence)
    }
    return { ...verifyStore({ directory: this.directory, keys: this.#keys(), onFinding }), faults }
  }

  #keys() {
    return verifyKeysOf(this.#barrier, LEAF_KEY)
  }

  async #change(): Promise<number | undefined> {
    const places = this.#random.chance(0.9) ? [this.#place()] : this.#random.several(2, 5, () => this.#place())
    const writes = places.map(([scope, key]) => {
      return { scope, key, value: this.#random.chance(0.08) ? undefined : this.#value() }
    })
    const { index } = await this.store.commit(async (tx) => {
      for (const { scope, key, value } of writes) {
        if (value === undefined) tx.delete(scope, key)
        else this.#put(tx, scope, key, value)
      }
    })
    return index
  }

  #place(): readonly [Scope, string] {
    const [scope, folder] = this.#random.pick(FOLDERS)
    return [scope, `${folder}${this.#random.int(this.#names)}`]
  }

  #value(): Buffer {
    const start = this.#random.int(60_000)
    return this.#noise.subarray(start, start + 32 + this.#random.int(512))
  }

  #put(tx: Transaction, scope: Scope, key: string, value: Buffer): void {
    const isBehind = isBehindBarrier(key)
    tx.put(scope, key, isBehind ? this.#barrier.seal(key, value) : sealRecord(ROOT_KEY, 0, key, NONCE, value))
  }
}

const NONCE = Buffer.alloc(12, 6)
