// What clients do with a store that crashes under them: they write, apply what a peer sends, hold the log, begin
// histories, take the key away, and fill the disk. The model (store-model.ts) hears of each question and each answer.
import assert from 'node:assert/strict'
import type { Barrier } from '../../src/storage/barrier.ts'
import type { AdoptedChange, Scope, Store, Transaction } from '../../src/storage/contract.ts'
import { HistoryGone, Sealed, StorageFailed, StorageFull, StorageRefused } from '../../src/storage/errors.ts'
import type { LogHold } from '../../src/storage/peer-log.ts'
import type { SeededRandom } from '../conformance/seeded-random.ts'
import { LEAF_KEY } from '../conformance/storage-clause.ts'
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'
import type { SteppedTime } from '../fixtures/stepped-time.ts'
import type { StoreDisk } from './simulated-backend.ts'
import { type Attempt, MARK, type StoreModel } from './store-model.ts'

/** A store from one start to the next. */
export type Life = {
  readonly store: Store
  readonly disk: StoreDisk
  readonly time: SteppedTime
  /** Clients begin nothing new. */
  isResting: boolean
  /** Nothing more can be written. */
  isOver: boolean
}

/** What clients need beside the store. */
export type ClientParts = {
  readonly random: PseudoRandom
  readonly bytes: SeededRandom
  readonly barrier: Barrier
  readonly model: StoreModel
  /** A store whose changes are applied. It never crashes. */
  readonly peer: Store
  /** Lets the time go by until the tree is saved again. */
  readonly skipTime: () => void
}

const OWN_MOUNT = '6f1d2c3b-0a4e-4f58-9c67-7b8a9d0e1f23'
const PEERS_MOUNT = '0b8c6d5e-1f2a-4b3c-8d4e-5f6a7b8c9d0e'
/** Few names, so that clients meet, and many now and then, so that rows of buckets are written. */
const NAMES = 14
const MANY = 130
const LONGEST_PAUSE_MS = 4
const FULL_BYTES = 60_000
const FAMILY = 'performance'
/** Written in the step that applies changes of the peer: how far they go. */
const APPLIED = 'root/core/reload/applied'

type Entry = { readonly scope: Scope; readonly key: string }

const inMount = (mount: string, name: string): Entry => ({
  scope: { namespace: 'root', mount, local: false },
  key: `root/logical/${mount}/${name}`,
})
const inSystem = (key: string): Entry => ({ scope: { namespace: 'root', mount: 'system', local: false }, key })

/** Clients of one store, over all its lives. */
export class StoreClients {
  readonly #parts: ClientParts

  constructor(parts: ClientParts) {
    this.#parts = parts
  }

  /** One client, until the life is over or rests. */
  async run(life: Life, number: number): Promise<void> {
    const { random } = this.#parts
    while (!life.isResting && !life.isOver) {
      await life.time.timers.sleep(random.int(LONGEST_PAUSE_MS))
      const choice = random.int(100)
      if (choice < 55) await this.#write(life, 1 + random.int(4))
      else if (choice < 57) await this.#write(life, MANY)
      else if (choice < 75) await this.#apply(life)
      else if (choice < 85) await this.#hold(life, `client-${number}`)
      else if (choice < 87) await this.#promote(life)
      else if (choice < 90) this.#parts.skipTime()
      else if (choice < 92) this.#seal(life)
      else if (choice < 95) await this.#fill(life)
      else if (choice < 96) random.chance(0.3) && life.disk.failSync()
      else if (choice < 97) await this.#scrub(life)
    }
  }

  async #write(life: Life, count: number): Promise<void> {
    const names = count < MANY ? NAMES : MANY
    await this.#attempt(async (attempt) => {
      const { index } = await life.store.commit(async (tx) => {
        this.#begin(attempt, tx)
        for (let left = count; left > 0; left--) await this.#writeOne(attempt, tx, this.#entry(names))
      })
      return index
    })
  }

  async #writeOne({ writes }: Attempt, tx: Transaction, { scope, key }: Entry): Promise<void> {
    const { random } = this.#parts
    // What is read must still be so at the commit.
    const isThere = random.chance(0.5) && (await tx.get(key)) !== undefined
    if (random.chance(isThere ? 0.4 : 0.15)) {
      tx.delete(scope, key)
      writes.set(key, undefined)
    } else {
      const value = this.#sealed(key)
      tx.put(scope, key, value)
      writes.set(key, value)
    }
  }

  /** The peer goes on, and some of what is new there is applied here. */
  async #apply({ store }: Life): Promise<void> {
    const { random, model, barrier } = this.#parts
    for (let left = random.int(3); left > 0; left--) await this.#writeAtPeer()
    const [origin] = (await store.position()).origins
    const from = origin?.index ?? 0
    const changes = await this.#sentBehind(from, 1 + random.int(6))
    const last = changes.at(-1)?.origins[0]?.index ?? from
    const { historyId } = await this.#parts.peer.position()
    await this.#attempt(async (attempt) => {
      const { scope, key } = inSystem(APPLIED)
      const also = async (tx: Transaction) => {
        this.#begin(attempt, tx)
        const before = await tx.get(key)
        const applied = before === undefined || origin === undefined ? 0 : Number(barrier.open(key, before).toString())
        const value = barrier.seal(key, Buffer.from(String(Math.max(applied, last))))
        tx.put(scope, key, value)
        attempt.writes.set(key, value)
      }
      const mode = origin === undefined || from < model.baseOrigin ? 'redo' : 'follow'
      const adopted = await store.adopt(changes, { mode, after: { family: FAMILY, historyId, index: from }, also })
      assert.equal(adopted.kind, 'adopted', JSON.stringify(adopted))
      model.adoptedUpTo = Math.max(model.adoptedUpTo, last)
      return undefined
    })
  }

  async #writeAtPeer(): Promise<void> {
    const { random, peer } = this.#parts
    await peer.transaction(async (tx) => {
      for (const name of random.several(1, 3, () => `p${random.int(NAMES)}`)) {
        const { scope, key } = inMount(PEERS_MOUNT, name)
        if (random.chance(0.3)) tx.delete(scope, key)
        else tx.put(scope, key, this.#sealed(key))
      }
    })
  }

  async #sentBehind(from: number, count: number): Promise<AdoptedChange[]> {
    const { peer, model } = this.#parts
    const { historyId } = await peer.position()
    return (await peer.changesSince(from, count)).map(({ index, chain, committedAtMs, operations }) => {
      const origin = { family: FAMILY, historyId, index, chain } as const
      const sent = { origins: [origin], committedAtMs, operations }
      model.sent.set(index, sent)
      return sent
    })
  }

  async #hold({ store }: Life, name: string): Promise<void> {
    const { random, model } = this.#parts
    const before = model.holdsOf(name)[0]
    if (before !== undefined && random.chance(0.3)) {
      model.holdAsked(name, undefined)
      if (await this.#answered(store.release(name))) model.holdAcknowledged(name, undefined)
      return
    }
    const { firstIndex } = await store.retained()
    const lastIndex = await store.lastIndex()
    const from = Math.max(0, lastIndex - random.int(Math.max(1, Math.min(30, lastIndex - firstIndex + 2))))
    const hold: LogHold = { name, kind: 'secondary', from }
    const isLater = before !== undefined && from >= before.high
    // One that moves on is stored later.
    const next = isLater ? { low: before.low, high: from } : { low: from, high: from }
    model.holdAsked(name, next)
    if (await this.#answered(store.hold(hold))) model.holdAcknowledged(name, next)
  }

  async #answered(asked: Promise<void>): Promise<boolean> {
    try {
      await asked
      return true
    } catch (cause) {
      if (cause instanceof StorageFull || cause instanceof StorageFailed || cause instanceof HistoryGone) return false
      throw cause
    }
  }

  async #promote({ store }: Life): Promise<void> {
    const { bytes, model } = this.#parts
    const id = bytes.bytes(16)
    await this.#attempt(async (attempt) => {
      await store.beginHistory(async (tx) => this.#begin(attempt, tx), { id, knownIndex: 0, knownEpoch: 0 })
      model.histories.push(id)
      return undefined
    })
  }

  /** The tree is dropped, and read anew. */
  #seal({ store, isOver }: Life): void {
    if (isOver) return
    store.setLeafKey(undefined)
    store.setLeafKey(LEAF_KEY)
  }

  /** Another client may be at it, or take the key away. */
  async #scrub({ store }: Life): Promise<void> {
    const { random } = this.#parts
    const mode = random.pick(['leaves', 'values', 'whole'] as const)
    try {
      const { repaired, left } = random.chance(0.3)
        ? { repaired: (await store.checkTree()).wrongEntries, left: { count: 0 } }
        : await store.reindex({ mode, skipFlush: random.chance(0.5), mayRepair: () => true })
      assert.deepEqual([repaired.count, left.count], [0, 0])
    } catch (cause) {
      if (cause instanceof StorageFull || cause instanceof StorageFailed || cause instanceof StorageRefused) return
      throw cause
    }
  }

  async #fill({ disk, time }: Life): Promise<void> {
    disk.roomBytes = this.#parts.random.int(FULL_BYTES)
    await time.timers.sleep(1 + this.#parts.random.int(20))
    disk.roomBytes = Number.POSITIVE_INFINITY
  }

  async #attempt(work: (attempt: Attempt) => Promise<number | undefined>): Promise<void> {
    const attempt: Attempt = { writes: new Map(), outcome: 'open', index: undefined }
    try {
      attempt.index = await work(attempt)
      attempt.outcome = 'done'
    } catch (cause) {
      if (cause instanceof StorageFull || cause instanceof Sealed) attempt.outcome = 'refused'
      else if (!(cause instanceof StorageFailed)) throw cause
    }
  }

  #begin(attempt: Attempt, tx: Transaction): void {
    const mark = this.#sealed(MARK)
    this.#parts.model.begin(attempt, mark)
    tx.put(inSystem(MARK).scope, MARK, mark)
  }

  #entry(names: number): Entry {
    const { random } = this.#parts
    const name = random.int(names)
    return random.pick([
      inMount(OWN_MOUNT, `k${name}`),
      inMount(OWN_MOUNT, `cluster/c${name}`),
      inSystem(`root/sys/policy/p${name}`),
      inSystem(`root/sys/token/t${name}`),
      inSystem(`root/core/reload/r${name}`),
    ])
  }

  /** Fresh bytes for this key. Equal ones never come again, so each write is told from all others. */
  #sealed(key: string): Buffer {
    const { bytes, barrier, random } = this.#parts
    return barrier.seal(key, bytes.bytes(8 + random.int(40)))
  }
}
