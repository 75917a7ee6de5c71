import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import type { Checkpoint } from '../backend.ts'
import { HistoryGone, type Store, systemScope } from '../contract.ts'
import { createMemoryStore } from '../memory-store.ts'
import { forgettableIndex, keptCheckpoints, MIN_RECORDS } from './retention.ts'

const checkpoint = (index: number, logBytes: number, savedAtMs: number): Checkpoint => ({ index, logBytes, savedAtMs })
const SPANS = [checkpoint(100, 10, 1_000), checkpoint(200, 10, 2_000), checkpoint(300, 10, 3_000)]
const LAST = 300 + MIN_RECORDS

const cases = [
  { name: 'within both caps nothing goes', bytes: 30, ms: 10_000, nowMs: 3_000, index: 0 },
  { name: 'one byte above the cap, the oldest span goes', bytes: 29, ms: 10_000, nowMs: 3_000, index: 100 },
  { name: 'spans go until the rest is within the cap', bytes: 10, ms: 10_000, nowMs: 3_000, index: 200 },
  { name: 'a cap of nothing keeps what is behind the last checkpoint', bytes: 0, ms: 10_000, nowMs: 3_000, index: 300 },
  { name: 'at the end of its time a span stays', bytes: 30, ms: 2_000, nowMs: 3_000, index: 0 },
  { name: 'a millisecond later it goes', bytes: 30, ms: 2_000, nowMs: 3_001, index: 100 },
  { name: 'a clock that went back removes nothing', bytes: 30, ms: 2_000, nowMs: 0, index: 0 },
]
for (const { name, bytes, ms, nowMs, index } of cases) {
  test(`retention: ${name}`, () => assert.equal(forgettableIndex(SPANS, LAST, nowMs, { bytes, ms }), index))
}

test('retention: the newest records stay whatever the caps say', () => {
  const none = { bytes: 0, ms: 0 }
  assert.equal(forgettableIndex(SPANS, LAST - 1, 9_000, none), 200)
  assert.equal(forgettableIndex(SPANS, 99 + MIN_RECORDS, 9_000, none), 0)
})

test('retention: a checkpoint goes with its last record, but for the one that names the tree', () => {
  assert.deepEqual(keptCheckpoints(SPANS, 200), SPANS.slice(1))
  assert.deepEqual(keptCheckpoints(SPANS, 201), SPANS.slice(2))
  assert.deepEqual(keptCheckpoints(SPANS, 900), SPANS.slice(2))
})

const RECORDS = 20_000 + MIN_RECORDS + 4_000

test('a store forgets old records in steps, keeps the newest, and its roots stay', async () => {
  const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
  const store = createMemoryStore({ random: new SeededRandom(1), clock, retention: { bytes: 1_000, ms: 1e12 } })
  store.setLeafKey(Buffer.alloc(32, 1))
  await fill(store, RECORDS)
  await assert.rejects(store.changesSince(0, 1), HistoryGone)
  const kept = await store.changesSince(await store.lastIndex().then((last) => last - MIN_RECORDS), RECORDS)
  assert.equal(kept.length, MIN_RECORDS)
  const { all } = await store.roots()
  store.setLeafKey(undefined)
  store.setLeafKey(Buffer.alloc(32, 1))
  assert.deepEqual((await store.roots()).all, all)
  await store.close()
})

async function fill(store: Store, records: number): Promise<void> {
  for (let first = 0; first < records; first += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, at) => put(store, first + at)))
  }
}

function put(store: Store, number: number): Promise<void> {
  const key = `root/sys/policy/${number % 50}`
  return store.transaction(async (tx) => tx.put(systemScope, key, Buffer.from(String(number))))
}
