import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { type Checkpoint, HISTORY_ID_BYTES } from '../backend.ts'
import { openStore } from '../commit/transactional-store.ts'
import { type Store, systemScope } from '../contract.ts'
import { HistoryGone } from '../errors.ts'
import { MemoryBackend } from '../memory-backend.ts'
import { createMemoryStore } from '../memory-store.ts'
import { encodeChange } from './change-record.ts'
import { NO_LEAF } from './leaf.ts'
import { LogKeeper } from './log-keeper.ts'
import {
  defaultHeldBytes,
  forgettableIndex,
  keptCheckpoints,
  MIN_RECORDS,
  type Retention,
  retainedAfter,
} from './retention.ts'

const checkpoint = (index: number, logBytes: number, savedAtMs: number): Checkpoint => ({ index, logBytes, savedAtMs })
const SPANS = [checkpoint(100, 10, 1_000), checkpoint(200, 10, 2_000), checkpoint(300, 10, 3_000)]
const NO_HOLDS = { holds: [], caps: { secondary: 0, copy: 0 } }

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
  test(`retention: ${name}`, () =>
    assert.equal(forgettableIndex(SPANS, 300, nowMs, { retention: { bytes, ms }, ...NO_HOLDS }), index))
}

test('retention: the newest records stay whatever the caps say', () => {
  const none = { retention: { bytes: 0, ms: 0 }, ...NO_HOLDS }
  assert.equal(forgettableIndex(SPANS, 299, 9_000, none), 200)
  assert.equal(forgettableIndex(SPANS, 99, 9_000, none), 0)
})

const held = [
  { name: 'what a secondary needs stays, and what it has may go', from: 150, secondary: 30, index: 100 },
  { name: 'whoever has the whole span holds nothing of it', from: 200, secondary: 30, index: 200 },
  { name: 'a byte above its cap the log is shortened, held or not', from: 0, secondary: 29, index: 100 },
  { name: 'a cap of nothing holds nothing', from: 0, secondary: 0, index: 300 },
]
for (const { name, from, secondary, index } of held) {
  test(`retention: ${name}`, () => {
    const retention = { bytes: 0, ms: 0 }
    const caps = { secondary, copy: 0 }
    const holds = [
      { name: 'a', kind: 'secondary', from } as const,
      { name: 'b', kind: 'secondary', from: 300 } as const,
    ]
    assert.equal(forgettableIndex(SPANS, 300, 9_000, { retention, holds, caps }), index)
    const copies = holds.map((hold) => ({ ...hold, kind: 'copy' }) as const)
    const ofCopies = { secondary: 0, copy: secondary }
    assert.equal(forgettableIndex(SPANS, 300, 9_000, { retention, holds: copies, caps: ofCopies }), index)
    assert.equal(forgettableIndex(SPANS, 300, 9_000, { retention, holds: copies, caps }), 300)
  })
}

test('retention: the default is 10 GiB, or a tenth of a file system that is smaller', () => {
  assert.equal(defaultHeldBytes(100 * 1024 ** 3), 10 * 1024 ** 3)
  assert.equal(defaultHeldBytes(100 * 1024 ** 3 - 1), 10 * 1024 ** 3 - 1)
  assert.equal(defaultHeldBytes(1e15), 10 * 1024 ** 3)
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

/** A store in memory, and how often the end of its newest records was looked for. */
async function countingStore(retention: Retention) {
  const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
  const backend = new MemoryBackend(new SeededRandom(1).bytes(HISTORY_ID_BYTES))
  const { indexBefore } = backend
  const asked = { count: 0 }
  backend.indexBefore = (count) => {
    asked.count++
    return indexBefore.call(backend, count)
  }
  const store = await openStore(backend, { clock, retention })
  store.setLeafKey(Buffer.alloc(32, 1))
  await store.roots()
  return { store, asked }
}

test('C1: a log within its limits never looks for what it could spare', async () => {
  const { store, asked } = await countingStore({ bytes: 1e12, ms: 1e12 })
  await fill(store, RECORDS)
  assert.equal(asked.count, 0)
  await store.close()
})

test('C1: a log looks once for what it can spare, however many steps it is shortened in', async () => {
  const { store, asked } = await countingStore({ bytes: 1_000, ms: 1e12 })
  await fill(store, 20_000)
  assert.equal((await store.retained()).firstIndex, 1)
  const before = asked.count
  // The first checkpoint can be spared now: its 20,000 records go in twenty steps.
  await fill(store, MIN_RECORDS + 4_000)
  assert.equal((await store.retained()).firstIndex, 20_001)
  // And once in every thousand records, as long as the span behind it is too young.
  assert.ok(asked.count - before <= 16, `${asked.count - before}`)
  await store.close()
})

test('C2: the status of the log reads none of it, however many hold it, but once after the opening', async () => {
  const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
  const backend = new MemoryBackend(new SeededRandom(1).bytes(HISTORY_ID_BYTES))
  let looks = 0
  const { logBytesBetween } = backend
  backend.logBytesBetween = (after, upTo) => {
    looks++
    return logBytesBetween.call(backend, after, upTo)
  }
  // 20,000 records make a span.
  const open = async () => {
    const opened = await openStore(backend, { clock })
    opened.setLeafKey(Buffer.alloc(32, 1))
    await opened.roots()
    return opened
  }
  const requireTold = async (store: Store) => {
    const { bytes, firstIndex, holds } = await store.retained()
    const records = (await backend.records(firstIndex - 1, 1e9)) ?? []
    const spanBytes = Math.max(...(await backend.checkpoints()).map(({ logBytes }) => logBytes))
    const isWhole = firstIndex === 1 || firstIndex === 20_001
    for (const { from, bytes: told } of [{ from: 0, bytes }, ...holds]) {
      const behind = records.reduce((sum, { index, record }) => sum + (index > from ? record.length : 0), 0)
      const isExact = isWhole && [0, 20_000, 40_000].includes(from)
      assert.ok(Math.abs(told - behind) <= (isExact ? 0 : spanBytes), `${told} for ${behind} behind ${from}`)
    }
  }
  const store = await open()
  await fill(store, 41_000)
  const places = [0, 30, 20_000, 20_001, 39_000, 40_000, 40_050, 41_000]
  for (const from of places) await store.hold({ name: String(from), kind: 'copy', from })
  looks = 0
  await requireTold(store)
  await fill(store, 100)
  await requireTold(store)
  for (const gone of [500, 20_000, 20_500]) {
    await backend.forgetRecords(gone, 1e9)
    await requireTold(store)
  }
  assert.equal(looks, 0)
  await store.close()
  const again = await open()
  looks = 0
  for (const _ of places) await requireTold(again)
  assert.ok(looks <= 1, `${looks}`)
  await again.close()
})

test('C2: where all records are equally long, and some of the log is gone, the status of the log is exact', () => {
  const told = retainedAfter([checkpoint(200, 1_000, 0), checkpoint(300, 500, 0)], {
    firstIndex: 101,
    lastIndex: 310,
    tailBytes: 50,
  })
  const behind = [0, 100, 150, 200, 260, 300, 304, 310].map(told)
  assert.deepEqual(behind, [1_550, 1_550, 1_050, 550, 250, 50, 30, 0])
  assert.equal(retainedAfter([], { firstIndex: 501, lastIndex: 510, tailBytes: 100 })(505), 50)
  assert.equal(retainedAfter([], { firstIndex: 1, lastIndex: 0, tailBytes: 0 })(0), 0)
})

test('T37: a store keeps what is held up to the cap, and says of whom it took records', async () => {
  const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
  const backend = new MemoryBackend(new SeededRandom(1).bytes(HISTORY_ID_BYTES))
  const open = async (secondary: number) => {
    const holdCaps = { secondary, copy: 0 }
    const store = await openStore(backend, { clock, holdCaps, retention: { bytes: 1_000, ms: 1e12 } })
    store.setLeafKey(Buffer.alloc(32, 1))
    await store.roots()
    return store
  }
  const store = await open(1e9)
  await put(store, 0)
  await store.hold({ name: 'west', kind: 'secondary', from: 1 })
  await fill(store, RECORDS)
  assert.equal((await store.changesSince(1, 1)).length, 1)
  await store.close()
  const capped = await open(1_000)
  await fill(capped, 2_000)
  await assert.rejects(capped.changesSince(1, 1), HistoryGone)
  const { firstIndex, holds } = await capped.retained()
  assert.ok(firstIndex > 2)
  assert.deepEqual([holds[0]?.from, holds[0]?.isBroken], [1, true])
  await assert.rejects(capped.hold({ name: 'east', kind: 'secondary', from: 1 }), HistoryGone)
  await capped.hold({ name: 'east', kind: 'secondary', from: await capped.lastIndex() })
  await capped.close()
})

test('a log that grows by thousands in one step is shortened as fast as it grows', async () => {
  const backend = new MemoryBackend(new SeededRandom(1).bytes(HISTORY_ID_BYTES))
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  const keeper = new LogKeeper(backend, { clock, retention: { bytes: 1, ms: 1e12 } })
  const [batch, batches] = [4_000, 10]
  for (let number = 0; number < batches; number++) {
    await grow(backend, batch)
    const { index, chain } = await backend.position()
    await keeper.shorten(index)
    const save = { index, chain, version: 1, pages: [], isWhole: false, savedAtMs: 0 }
    keeper.saved(await backend.saveTree(save))
  }
  const kept = batch * batches + 1 - (await backend.firstIndex())
  assert.ok(kept >= MIN_RECORDS && kept <= MIN_RECORDS + 2 * batch, `${kept}`)
})

/** As the changes of a peer are appended, in one step. */
async function grow(backend: MemoryBackend, count: number): Promise<void> {
  const key = 'root/core/cluster'
  const value = Buffer.from('v')
  const put = { kind: 'put', class: 'ignored', scope: systemScope, key, oldLeaf: NO_LEAF, newLeaf: NO_LEAF } as const
  let { index, chain } = await backend.position()
  const changes = Array.from({ length: count }, () => {
    const draft = { index: ++index, epoch: 1, beginsHistory: undefined, origins: [], committedAtMs: 0 }
    const change = encodeChange({ ...draft, operations: [{ ...put, value }] }, chain)
    chain = change.change.chain
    return change
  })
  await backend.append(changes)
}

async function fill(store: Store, records: number): Promise<void> {
  for (let first = 0; first < records; first += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, at) => put(store, first + at)))
  }
}

function put(store: Store, number: number): Promise<void> {
  const key = `root/sys/policy/${number % 50}`
  return store.transaction(async (tx) => tx.put(systemScope, key, Buffer.from(String(number))))
}
