// What is known from outside of a store that crashes: what was asked of it, and what it has answered. After each start
// the store must hold what was acknowledged, may hold what was under way, and must hold nothing else.
import assert from 'node:assert/strict'
import type { AdoptedChange, Change, ChangeOperation } from '../../src/storage/contract.ts'
import { decodeRun } from '../../src/storage/log/change-record.ts'
import type { MemoryTables } from '../../src/storage/memory-tables.ts'
import type { LogHold } from '../../src/storage/peer-log.ts'

/** Each transaction writes here what names it in the log. */
export const MARK = 'root/core/reload/mark'

/** What a transaction wrote in its last run; undefined: it deleted. `refused`: it was told that nothing was written. */
export type Attempt = {
  readonly writes: Map<string, Buffer | undefined>
  outcome: 'open' | 'done' | 'refused'
  /** Of its record; known once it is done, but not of what was written beside changes of a peer. */
  index: number | undefined
}

/** What a hold of the log may be after a crash; undefined: there may be none. */
type PossibleHold = { readonly low: number; readonly high: number } | undefined

type Entries = ReadonlyMap<string, Buffer>

/** A restore that may have taken place. `id` is that of the history that it begins. */
export type Restore = { readonly id: Buffer; readonly entries: Entries; readonly origin: number; isDone: boolean }

/** The model of one store, over all its lives. */
export class StoreModel {
  /** What the peer has sent, by its index. */
  readonly sent = new Map<number, AdoptedChange>()
  /** The last index of the peer that was acknowledged. */
  adoptedUpTo = 0
  restore: Restore | undefined
  /** Histories whose beginning was acknowledged. */
  readonly histories: Buffer[] = []
  #attempts = new Map<string, Attempt>()
  /** The entries with which the log began. */
  #base: Entries = new Map()
  /** How far the peer's changes were in them: a copy that begins anew must come so far. */
  baseOrigin = 0
  #holds = new Map<string, PossibleHold[]>()

  /** A run of an attempt begins, and will write this mark. */
  begin(attempt: Attempt, mark: Buffer): void {
    attempt.writes.clear()
    attempt.writes.set(MARK, mark)
    this.#attempts.set(mark.toString('hex'), attempt)
  }

  /** What a hold may be once `wanted` is asked for. `acknowledged` leaves nothing else. */
  holdAsked(name: string, wanted: PossibleHold): void {
    this.#holds.set(name, [...this.holdsOf(name), wanted])
  }

  holdAcknowledged(name: string, hold: PossibleHold): void {
    this.#holds.set(name, [hold])
  }

  holdsOf(name: string): PossibleHold[] {
    return this.#holds.get(name) ?? [undefined]
  }

  /** Compares what a start has found. What was under way is decided by that. */
  check(tables: MemoryTables): void {
    this.#decideRestore(tables)
    const changes = decodeRun(tables.log)
    const found = new Map<Attempt, number>()
    for (const change of changes) {
      if (change.origins.length > 0) this.#checkAdopted(change)
      else this.#checkOwn(change, found)
    }
    for (const attempt of this.#attempts.values()) {
      const index = found.get(attempt)
      if (attempt.outcome === 'done') {
        assert.ok(index !== undefined, `the acknowledged change ${attempt.index} is there`)
        assert.equal(index, attempt.index ?? index)
      } else attempt.outcome = index === undefined ? 'refused' : 'done'
      attempt.index = index
    }
    checkEntries(tables, this.#base, changes)
    this.#checkOrigin(tables)
    this.#checkHolds(tables.holds)
    for (const id of this.histories) assert.ok(tables.histories.some((history) => history.id.equals(id)))
  }

  #decideRestore({ histories }: MemoryTables): void {
    const { restore } = this
    this.restore = undefined
    if (restore === undefined) return
    const isThere = histories.some(({ id }) => id.equals(restore.id))
    assert.ok(isThere || !restore.isDone, 'the acknowledged restore is there')
    if (!isThere) return
    this.#base = restore.entries
    this.baseOrigin = restore.origin
    this.#attempts = new Map()
    this.#holds = new Map()
    this.adoptedUpTo = 0
  }

  #checkOwn({ index, operations }: Change, found: Map<Attempt, number>): void {
    const mark = operations.find(({ key }) => key === MARK)?.value.toString('hex') ?? ''
    const attempt = this.#attempts.get(mark)
    assert.ok(attempt !== undefined, `record ${index} is a change that was asked for`)
    assert.notEqual(attempt.outcome, 'refused', `record ${index} is no change that was refused`)
    assert.ok(!found.has(attempt), `record ${index} is no second one of a change`)
    found.set(attempt, index)
    requireOperations(index, operations, attempt.writes)
  }

  #checkAdopted({ index, origins, operations }: Change): void {
    const sent = this.sent.get(origins[0]?.index ?? 0)
    assert.ok(sent !== undefined, `record ${index} is a change that the peer sent`)
    const writes = new Map(sent.operations.map(({ kind, key, value }) => [key, kind === 'put' ? value : undefined]))
    requireOperations(index, operations, writes)
  }

  /** The place in the peer's log is never ahead of the data nor behind it, and not behind what was acknowledged. */
  #checkOrigin({ position, entries }: MemoryTables): void {
    const origin = position.origins[0]?.index ?? 0
    assert.ok(origin >= this.adoptedUpTo, `origin ${origin}, acknowledged was ${this.adoptedUpTo}`)
    this.adoptedUpTo = origin
    // A copy that begins anew has entries that are newer than its place.
    if (origin < this.baseOrigin) return
    const expected = new Map<string, Buffer>()
    const all = [...this.sent].filter(([index]) => index <= Math.max(origin, this.baseOrigin))
    for (const [, { operations }] of all.sort(([a], [b]) => a - b)) play(expected, operations)
    const keys = new Set([...this.sent.values()].flatMap(({ operations }) => operations.map(({ key }) => key)))
    for (const key of keys) assert.deepEqual(entries.byKey.get(key)?.value, expected.get(key), `${key} of the peer`)
  }

  #checkHolds(holds: readonly LogHold[]): void {
    for (const name of new Set([...this.#holds.keys(), ...holds.map((hold) => hold.name)])) {
      const from = holds.find((hold) => hold.name === name)?.from
      const isPossible = this.holdsOf(name).some((hold) =>
        hold === undefined ? from === undefined : from !== undefined && hold.low <= from && from <= hold.high,
      )
      assert.ok(isPossible, `the hold ${name} at ${from} is one of ${JSON.stringify(this.holdsOf(name))}`)
      this.holdAcknowledged(name, from === undefined ? undefined : { low: from, high: from })
    }
  }
}

/** A record has the writes of its transaction, but for deletes of what was not there. */
function requireOperations(
  index: number,
  operations: readonly ChangeOperation[],
  writes: ReadonlyMap<string, Buffer | undefined>,
): void {
  const recorded = new Map(operations.map(({ kind, key, value }) => [key, kind === 'put' ? value : undefined]))
  for (const key of recorded.keys()) assert.ok(writes.has(key), `record ${index} has ${key}, which was not written`)
  for (const [key, value] of writes) {
    if (value !== undefined) assert.deepEqual(recorded.get(key), value, `record ${index} has the value of ${key}`)
    else assert.equal(recorded.get(key), undefined)
  }
}

/** The entries are those of the beginning with all records of the log, and so is what the position says of them. */
function checkEntries({ entries, position }: MemoryTables, base: Entries, changes: readonly Change[]): void {
  const expected = new Map(base)
  for (const { operations } of changes) play(expected, operations)
  assert.deepEqual([...entries.keys].sort(), [...expected.keys()].sort())
  for (const [key, { value }] of entries.byKey) assert.deepEqual(value, expected.get(key), key)
  assert.equal(changes.at(-1)?.index ?? position.index, position.index)
}

function play(entries: Map<string, Buffer>, operations: readonly ChangeOperation[]): void {
  for (const { kind, key, value } of operations) {
    if (kind === 'put') entries.set(key, value)
    else entries.delete(key)
  }
}
