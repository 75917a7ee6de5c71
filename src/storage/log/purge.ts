// Makes the store forget what was deleted: records of the log, rows that lead to keys, and what the device still holds
// of either and of the entries. It works in short steps between two groups of commits. After a crash the next open goes
// on with it, sealed or not, as it is noted in an entry of its own:
//
//   tree saved ─▶ noted ─▶ records removed ─▶ rows of gone keys removed ─▶ remains overwritten ─▶ note deleted
//
// The note is the record of the log that follows the removed ones, so the log is never empty.
//
//   root/core/purge   of class ignored: the index up to which records go, in decimal digits
import { strict as assert } from 'node:assert'
import type { Clock, Ticks, Timers } from '../../lib/world.ts'
import type { Backend } from '../backend.ts'
import { ROOT_NAMESPACE, systemScope, type Transaction } from '../contract.ts'
import { StorageCorrupt, StorageFull } from '../errors.ts'
import type { LogKeeper } from './log-keeper.ts'
import type { TreeKeeper } from './tree-keeper.ts'

const NOTE = `${ROOT_NAMESPACE}/core/purge`
const NOTE_FORM = /^(0|[1-9][0-9]{0,15})$/
/** How long it waits for readers, or for room on the device, before it looks again. */
const WAIT_MS = 200
/** Rows that are looked at in one step. */
const ROWS_PER_STEP = 500
/** Records of the first step. Records may be long or short, so their number follows the time that a step takes. */
const FIRST_RECORDS = 8
const MOST_RECORDS = 4_096
const WANTED_MS = 10

/** What a purge works with. */
export type PurgeParts = {
  readonly backend: Pick<Backend, 'get' | 'dropGoneBuckets' | 'erase' | 'flushErased'>
  readonly clock: Clock
  readonly ticks: Ticks
  /** Missing: it looks again in the next tick. */
  readonly timers: Pick<Timers, 'after'> | undefined
  readonly tree: Pick<TreeKeeper, 'loaded' | 'save'>
  readonly log: Pick<LogKeeper, 'forget'>
  /** Runs what writes between two groups of commits. @throws StorageClosed, StorageFull, StorageFailed */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>
  /** Runs what writes while others commit. Throws as `alone` does. */
  readonly beside: <T>(work: () => Promise<T>) => Promise<T>
  readonly transaction: (work: (tx: Transaction) => Promise<void>) => Promise<void>
}

/** The purges of one open store, one after the other. */
export class Purge {
  readonly #parts: PurgeParts
  #last: Promise<void> = Promise.resolve()

  constructor(parts: PurgeParts) {
    this.#parts = parts
  }

  /** Goes on with what is noted, in the background. @throws StorageCorrupt for a note that cannot be one */
  async resume(): Promise<void> {
    const note = await this.#parts.backend.get(NOTE)
    if (note === undefined) return
    const text = note.toString('latin1')
    if (!NOTE_FORM.test(text)) throw new StorageCorrupt('The note of a purge is damaged')
    this.#last = this.#run(Number(text))
    // What a close ends, the next open goes on with. Whatever else fails has stopped the store, which tells of it.
    this.#last.catch(() => {})
  }

  /** Forgets the records up to `upTo`, and all that was deleted before. Throws as `Store.purge` does. */
  async begin(upTo: number): Promise<void> {
    const before = this.#last
    const purged = (async () => {
      await before.catch(() => {})
      await this.#note(upTo)
      await this.#run(upTo)
    })()
    this.#last = purged
    await purged
  }

  /** Behind a saved tree, which lacks none of the records that go. */
  async #note(upTo: number): Promise<void> {
    const { tree, alone, transaction } = this.#parts
    await tree.loaded()
    await this.#step(() => alone(() => tree.save()))
    await this.#step(() => transaction(async (tx) => tx.put(systemScope, NOTE, Buffer.from(String(upTo)))))
  }

  async #run(upTo: number): Promise<void> {
    const { backend, alone, beside, transaction } = this.#parts
    await this.#forgetRecords(upTo)
    for (let after: number | undefined = 0; after !== undefined; ) {
      const from: number = after
      after = await this.#step(() => alone(() => backend.dropGoneBuckets(from, ROWS_PER_STEP)))
    }
    for (let step = await this.#erase(); step !== 'done'; step = await this.#erase()) {
      // Step by step, or the next checkpoint of a commit would have to flush all of it, and the thread stood still.
      await this.#step(() => beside(() => backend.flushErased()))
      if (step === 'held') await this.#wait()
    }
    await this.#step(() => transaction(async (tx) => tx.delete(systemScope, NOTE)))
  }

  async #forgetRecords(upTo: number): Promise<void> {
    const { log, alone, clock } = this.#parts
    let limit = FIRST_RECORDS
    const some = () =>
      alone(async () => {
        const startedMs = clock.monotonicMs()
        const isDone = await log.forget(upTo, limit)
        limit = nextLimit(limit, clock.monotonicMs() - startedMs)
        return isDone
      })
    while (!(await this.#step(some))) {}
  }

  #erase() {
    const { backend, alone } = this.#parts
    return this.#step(() => alone(() => backend.erase()))
  }

  /** Runs a step, again while the device is full. Others come in before the next one. */
  async #step<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const result = await work()
        await this.#parts.ticks.next()
        return result
      } catch (error) {
        if (!(error instanceof StorageFull)) throw error
        await this.#wait()
      }
    }
  }

  async #wait(): Promise<void> {
    const { timers, ticks } = this.#parts
    if (timers === undefined) return ticks.next()
    await new Promise<void>((resolve) => {
      timers.after(WAIT_MS, resolve)
    })
  }
}

function nextLimit(limit: number, ms: number): number {
  assert(limit > 0)
  if (ms > WANTED_MS) return Math.max(1, limit >> 1)
  return Math.min(MOST_RECORDS, 2 * limit)
}
