// A thread's caches follow the commits of another: here two views on one store in memory.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { Faults, faultyBackend } from '../../test/conformance/faulty-backend.ts'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { realWorld } from '../lib/world.ts'
import { Arrivals } from '../replication/consistency/arrivals.ts'
import { HISTORY_ID_BYTES } from '../storage/backend.ts'
import { openStore } from '../storage/commit/transactional-store.ts'
import { type ReadStore, systemScope } from '../storage/contract.ts'
import { HistoryGone, StorageFull } from '../storage/errors.ts'
import { Invalidation } from '../storage/invalidation.ts'
import { indexOfOtherData } from '../storage/log/histories.ts'
import { MemoryBackend } from '../storage/memory-backend.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { ReplaceableReader } from '../storage/replaceable-store.ts'
import { ChangeFollower, newPublishedIndex, publishIndex } from './change-follower.ts'

async function stage() {
  const { random, clock } = realWorld()
  const published = newPublishedIndex()
  const faults = new Faults()
  const backend = faultyBackend(new MemoryBackend(random.bytes(HISTORY_ID_BYTES)), faults)
  const store = await openStore(backend, { clock, onCommitting: (index) => publishIndex(published, index) })
  store.setLeafKey(Buffer.alloc(32, 1))
  const seen: string[] = []
  const invalidation = new Invalidation()
  invalidation.register({ prefix: 'sys/policy/', changed: (rest) => seen.push(rest), reset: () => seen.push('(all)') })
  const follower = await ChangeFollower.start(store, invalidation, published)
  const write = (name: string) =>
    store.transaction(async (tx) => tx.put(systemScope, `root/sys/policy/${name}`, Buffer.from('x')))
  return { store, published, seen, invalidation, follower, write, faults }
}

test('nothing to do where nothing was committed', async () => {
  const { follower } = await stage()
  assert.equal(follower.catchUp(), undefined)
})

test('every key that changed is forgotten before the next request, once', async () => {
  const { follower, seen, write } = await stage()
  for (let i = 0; i < 600; i++) await write(`p${i}`)
  await follower.catchUp()
  assert.equal(seen.length, 600)
  assert.equal(follower.catchUp(), undefined)
})

test('a commit during the catching up is not missed by a request that came after it', async () => {
  const { follower, seen, write } = await stage()
  await write('first')
  const early = follower.catchUp()
  await write('second')
  await follower.catchUp()
  assert.deepEqual(seen, ['first', 'second'])
  await early
})

test('Q-05: a commit is looked for while it is written, and found by the first that could see it', async () => {
  const { follower, seen, write, faults } = await stage()
  faults.hold()
  const writing = write('held')
  while (faults.appends === 0) await new Promise(setImmediate)
  assert.notEqual(follower.catchUp(), undefined)
  await follower.catchUp()
  assert.deepEqual(seen, [])
  faults.release()
  await writing
  await follower.catchUp()
  assert.deepEqual(seen, ['held'])
  assert.equal(follower.catchUp(), undefined)
})

test('a commit that failed leaves nothing to forget, and the next one is not missed', async () => {
  const { follower, seen, write, faults } = await stage()
  faults.next = new StorageFull('Told to fail')
  await assert.rejects(write('never'), StorageFull)
  await follower.catchUp()
  await write('after')
  await follower.catchUp()
  assert.deepEqual(seen, ['after'])
})

test('where the log no longer reaches back, everything is forgotten', async () => {
  const { store, published, seen, invalidation, write } = await stage()
  const cut: ReadStore = { ...readVerbs(store), changesSince: async () => Promise.reject(new HistoryGone('gone')) }
  const follower = await ChangeFollower.start(cut, invalidation, published)
  await write('a')
  await follower.catchUp()
  assert.deepEqual(seen, ['(all)'])
  assert.equal(follower.catchUp(), undefined)
})

test('S9: where the store was emptied, everything is forgotten, and no later change is missed', async () => {
  const { store, invalidation, seen, published, write } = await stage()
  const reader = new ReplaceableReader(store)
  const follower = await ChangeFollower.start(reader, invalidation, published)
  await write('a')
  const { random, clock } = realWorld()
  const index = indexOfOtherData(await store.lastIndex())
  const id = random.bytes(HISTORY_ID_BYTES)
  const history = { id, epoch: 2, startIndex: index + 1, parent: undefined, startedAtMs: 0 }
  const onCommitting = (at: number): void => publishIndex(published, at)
  const left = createMemoryStore({ random, clock, onCommitting }, { index, histories: [history], entries: [] })
  left.setLeafKey(Buffer.alloc(32, 1))
  await reader.putAway()
  reader.putBack(left)
  publishIndex(published, index)
  // As where the thread had not come to be told of it: what it last saw is an index of the store of before.
  await follower.catchUp()
  assert.deepEqual(seen, ['(all)'])
  assert.equal(follower.catchUp(), undefined)
  await left.transaction(async (tx) => tx.put(systemScope, 'root/sys/policy/b', Buffer.from('x')))
  await follower.catchUp()
  assert.deepEqual(seen, ['(all)', 'b'])
})

const readVerbs = (store: ReadStore): ReadStore => ({
  get: (key) => store.get(key),
  list: (prefix, options) => store.list(prefix, options),
  scan: (prefix, after, limit) => store.scan(prefix, after, limit),
  lastIndex: () => store.lastIndex(),
  position: () => store.position(),
  records: (index, limit) => store.records(index, limit),
  histories: () => store.histories(),
  changesSince: (index, limit) => store.changesSince(index, limit),
  snapshot: () => store.snapshot(),
  close: () => store.close(),
})

test('4c.20: once an arrival is told, no thread serves its next request without it', async () => {
  const { store, follower, seen, write, faults } = await stage()
  const { timers } = steppedTime(0)
  const progress = {
    position: () => store.positionNow(),
    committedAfter: (index: number) => store.committedAfter(index),
  }
  faults.hold()
  const writing = write('arrived')
  const arriving = new Arrivals(progress, timers).wait(({ index }) => index >= 1, 60_000)
  while (faults.appends === 0) await new Promise(setImmediate)
  // Another thread looked while the commit was under way, found nothing, and looks again.
  await follower.catchUp()
  assert.deepEqual(seen, [])
  faults.release()
  assert.equal(await arriving, true)
  await follower.catchUp()
  assert.deepEqual(seen, ['arrived'])
  await writing
})
