// Reloading a mount reaches the threads that only read: what they kept of it they read anew, and of no other mount.

import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { ROOT } from '../../src/api/namespace.ts'
import { assembleServing, type ServingNode } from '../../src/assembly/serving-node.ts'
import { bodyText } from '../../src/core/exchange.ts'
import { inlineWork } from '../../src/lib/slow-work.ts'
import { realWorld } from '../../src/lib/world.ts'
import type { ReadStore } from '../../src/storage/contract.ts'
import { ChangeFollower, newPublishedIndex, publishIndex } from '../../src/threads/change-follower.ts'
import { LIMITS, type MemoryServer, startMemoryServer, wireRequest } from '../fixtures/memory-server.ts'

type Reading = {
  readonly node: ServingNode
  /** Keys of mounts' data that were read since the last call. */
  readonly readKeys: () => string[]
}

/** A thread that serves, over the store of the one that writes. */
async function readingThread({ store, node: writer }: MemoryServer): Promise<Reading> {
  let seen: string[] = []
  const reading: ReadStore = {
    get: (key) => {
      if (key.startsWith('root/logical/')) seen.push(key)
      return store.get(key)
    },
    list: (...given) => store.list(...given),
    scan: (...given) => store.scan(...given),
    lastIndex: () => store.lastIndex(),
    position: () => store.position(),
    records: (...given) => store.records(...given),
    histories: () => store.histories(),
    changesSince: (...given) => store.changesSince(...given),
    snapshot: () => store.snapshot(),
    close: async () => {},
  }
  const published = newPublishedIndex()
  store.onCommit(({ index }) => publishIndex(published, index))
  publishIndex(published, await store.lastIndex())
  const world = realWorld()
  let follower: ChangeFollower | undefined
  const node = assembleServing({
    role: 'serving',
    store: reading,
    world,
    slow: inlineWork(world),
    log: () => {},
    facts: { reportedVersion: '1.21.0', storageType: 'inmem', apiAddress: '', clusterName: '' },
    tokenLimits: LIMITS,
    channels: {
      sealStatus: () => writer.seal.status(),
      roleState: () => writer.role.state,
      forward: (request) => writer.core.handle(request),
      ask: (mount, question) => writer.answer(mount, question),
      committedAfter: (index) => store.committedAfter(index),
      catchUp: () => follower?.catchUp(),
    },
  })
  follower = await ChangeFollower.start(reading, node.invalidation, published)
  const { keyring } = writer.storage.barrier
  assert.ok(keyring !== undefined)
  await node.gate.open(keyring)
  return {
    node,
    readKeys: () => {
      const keys = seen
      seen = []
      return keys
    },
  }
}

test('X-01: a reload makes a reading thread read the keys of that mount anew, once', async () => {
  const writer = await startMemoryServer()
  for (const path of ['one', 'other']) {
    await writer.call('POST', `sys/mounts/${path}`, { type: 'transit' })
    await writer.call('POST', `${path}/keys/k`)
  }
  const { node, readKeys } = await readingThread(writer)
  const readsOf = async (path: string): Promise<number> => {
    readKeys()
    const sent = wireRequest('POST', `${path}/encrypt/k`, { plaintext: 'YQ==' }, 'root')
    const response = await node.core.handle(sent)
    assert.equal(response.status, 200, bodyText(response))
    return readKeys().length
  }
  for (const path of ['one', 'other']) {
    assert.ok((await readsOf(path)) > 0, 'first it is read')
    assert.equal(await readsOf(path), 0, 'then it is kept')
  }
  for (const body of [{ mounts: ['one'] }, { mounts: ['one'], scope: 'global' }]) {
    assert.ok((await writer.call('POST', 'sys/plugins/reload/backend', body)).status < 300)
    assert.ok((await readsOf('one')) > 0, JSON.stringify(body))
    assert.equal(await readsOf('one'), 0)
    assert.equal(await readsOf('other'), 0)
  }
  await writer.call('POST', 'sys/plugins/reload/backend', { plugin: 'transit' })
  assert.ok((await readsOf('one')) > 0)
  assert.ok((await readsOf('other')) > 0)
})

test('X-01: another size of the cache holds on every thread after a reload, and on none before', async () => {
  const writer = await startMemoryServer()
  await writer.call('POST', 'sys/mounts/one', { type: 'transit' })
  const names = Array.from({ length: 12 }, (_, index) => `k${index}`)
  for (const name of names) await writer.call('POST', `one/keys/${name}`)
  const threads = [await readingThread(writer), await readingThread(writer)]
  const { uuid } = writer.node.mounts.find(ROOT, 'one/') ?? assert.fail()
  /** Keys that are read anew although all were asked for before. */
  const missing = async ({ node }: Pick<Reading, 'node'>): Promise<number> => {
    const ask = async () => {
      for (const name of names) await node.core.handle(wireRequest('GET', `one/keys/${name}`, undefined, 'root'))
    }
    await ask()
    const before = node.mounts.engineOf(uuid)?.lookups?.misses ?? 0
    await ask()
    return (node.mounts.engineOf(uuid)?.lookups?.misses ?? 0) - before
  }
  const all = [writer, ...threads]
  for (const thread of all) assert.equal(await missing(thread), 0)
  await writer.call('POST', 'one/cache-config', { size: 10 })
  for (const thread of all) assert.equal(await missing(thread), 0)
  await writer.call('POST', 'sys/plugins/reload/backend', { plugin: 'transit' })
  for (const thread of all) assert.ok((await missing(thread)) > 0)
})

test('what is kept of reloads goes with the mount', async () => {
  const { call, store } = await startMemoryServer()
  await call('POST', 'sys/mounts/one', { type: 'transit' })
  await call('POST', 'sys/plugins/reload/backend', { mounts: ['one'] })
  assert.equal((await store.list('root/core/reload/')).length, 1)
  await call('DELETE', 'sys/mounts/one')
  assert.deepEqual(await store.list('root/core/reload/'), [])
})
