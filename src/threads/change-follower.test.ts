// A thread's caches follow the commits of another: here two views on one store in memory.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { realWorld } from '../lib/world.ts'
import { HistoryGone, type ReadStore, systemScope } from '../storage/contract.ts'
import { Invalidation } from '../storage/invalidation.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { ChangeFollower, newPublishedIndex, publishCommits } from './change-follower.ts'

async function stage() {
  const { random, clock } = realWorld()
  const store = createMemoryStore({ random, clock })
  store.setLeafKey(Buffer.alloc(32, 1))
  const published = newPublishedIndex()
  publishCommits(store, new Invalidation(), published)
  const seen: string[] = []
  const invalidation = new Invalidation()
  invalidation.register({ prefix: 'sys/policy/', changed: (rest) => seen.push(rest), reset: () => seen.push('(all)') })
  const follower = await ChangeFollower.start(store, invalidation, published)
  const write = (name: string) =>
    store.transaction(async (tx) => tx.put(systemScope, `root/sys/policy/${name}`, Buffer.from('x')))
  return { store, published, seen, invalidation, follower, write }
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

test('where the log no longer reaches back, everything is forgotten', async () => {
  const { store, published, seen, invalidation, write } = await stage()
  const cut: ReadStore = { ...readVerbs(store), changesSince: async () => Promise.reject(new HistoryGone('gone')) }
  const follower = await ChangeFollower.start(cut, invalidation, published)
  await write('a')
  await follower.catchUp()
  assert.deepEqual(seen, ['(all)'])
  assert.equal(follower.catchUp(), undefined)
})

const readVerbs = (store: ReadStore): ReadStore => ({
  get: (key) => store.get(key),
  list: (prefix, options) => store.list(prefix, options),
  scan: (prefix, after, limit) => store.scan(prefix, after, limit),
  lastIndex: () => store.lastIndex(),
  changesSince: (index, limit) => store.changesSince(index, limit),
  snapshot: () => store.snapshot(),
  close: () => store.close(),
})
