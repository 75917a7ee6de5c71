import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { START_MS, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { MAX_IDENTITY_TOKEN_SECONDS } from '../api/identity-token.ts'
import { ACTIVE_PRIMARY, mayChange, type NodeRole, OWNER_OF_CLASS } from '../api/node-role.ts'
import { inlineWork } from '../lib/slow-work.ts'
import { realWorld, type World } from '../lib/world.ts'
import { systemScope } from '../storage/contract.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import { PluginIdentity } from './plugin-identity.ts'

const DAY_MS = 24 * 3_600_000
const TEN_MINUTES_MS = 600_000

const identityOf = (storage: SealedStorage, world: World, role: NodeRole = ACTIVE_PRIMARY) =>
  new PluginIdentity({
    storage,
    slow: inlineWork(world),
    world,
    nodeRole: () => role,
    apiAddress: 'https://keys.example',
  })

const part = (jwt: string, at: number) => JSON.parse(Buffer.from(jwt.split('.')[at] ?? '', 'base64url').toString())

test('a key is published until its last token has ended also by a clock that is ten minutes behind', async () => {
  let nowMs = START_MS
  const world = { ...realWorld(), clock: { nowMs: () => nowMs, monotonicMs: () => nowMs } }
  const { storage } = (await startMemoryServer()).node
  const identity = identityOf(storage, world)
  const mint = () => identity.mint({ subject: 's', audience: 'a', ttlSeconds: MAX_IDENTITY_TOKEN_SECONDS + 1 })
  const kids = async () => (await identity.publishedKeys()).map(({ kid }) => kid)
  const first = String(part(await mint(), 0).kid)
  nowMs += DAY_MS - 1
  const last = await mint()
  assert.equal(part(last, 0).kid, first)
  nowMs += 1
  assert.notEqual(part(await mint(), 0).kid, first)
  const { iat, exp } = part(last, 1)
  assert.equal(exp - iat, MAX_IDENTITY_TOKEN_SECONDS)
  nowMs += MAX_IDENTITY_TOKEN_SECONDS * 1000 + TEN_MINUTES_MS - 1
  assert.ok((await kids()).includes(first))
  nowMs += 1
  assert.ok(!(await kids()).includes(first))
})

const kidOf = async (identity: PluginIdentity): Promise<unknown> =>
  part(await identity.mint({ subject: 's', audience: 'a', ttlSeconds: 60 }), 0).kid

const OWN = 'root/core/local-plugin-identity/'
const SHARED = 'root/core/plugin-identity/'

/** Lays the keys where version 0.1.0 had them. */
async function layAsBefore({ storage }: { readonly storage: SealedStorage }): Promise<void> {
  const entries = await storage.transaction(async (folders) => {
    const own = folders.at(systemScope, OWN)
    const paths = await own.keys('', '', 10)
    return Promise.all(paths.map(async (path) => [path, (await own.get(path)) ?? Buffer.alloc(0)] as const))
  })
  await storage.transaction(async (folders) => {
    const own = folders.at(systemScope, OWN)
    for (const [path] of entries) own.delete(path)
  })
  await storage.transaction(async (folders) => {
    const shared = folders.at(systemScope, SHARED)
    for (const [path, value] of entries) shared.put(path, value)
  })
}

/** A server with the keys of 0.1.0. */
async function startedBefore(world: World) {
  const { node, store } = await startMemoryServer()
  const { storage } = node
  const before = identityOf(storage, world)
  const first = await kidOf(before)
  const published = await before.publishedKeys()
  await layAsBefore({ storage })
  const shared = () => storage.transaction((folders) => folders.at(systemScope, SHARED).keys('', '', 10))
  assert.equal((await shared()).length, 3)
  return { storage, store, first, published, shared }
}

test('keys of version 0.1.0 sign on as before, and are removed from where they were with the next change', async () => {
  let nowMs = START_MS
  const world = { ...realWorld(), clock: { nowMs: () => nowMs, monotonicMs: () => nowMs } }
  const { storage, first, published, shared } = await startedBefore(world)
  const identity = identityOf(storage, world)
  assert.deepEqual(await identity.publishedKeys(), published)
  assert.equal(await kidOf(identity), first)
  assert.deepEqual(await identity.publishedKeys(), published)
  nowMs += DAY_MS
  assert.equal(await kidOf(identity), published[1]?.kid)
  assert.deepEqual((await identity.publishedKeys()).at(-1), published[0])
  assert.deepEqual(await shared(), [])
})

test('a performance secondary signs with its own keys alone, and leaves those of 0.1.0 to its primary', async () => {
  const world = realWorld()
  const { storage, store, published, shared } = await startedBefore(world)
  const role = { ...ACTIVE_PRIMARY, performance: 'secondary' } as const
  await store.setWritable((storageClass) => mayChange(role, OWNER_OF_CLASS[storageClass]))
  const identity = identityOf(storage, world, role)
  assert.deepEqual(await identity.publishedKeys(), [])
  const kid = await kidOf(identity)
  const kids = (await identity.publishedKeys()).map((key) => key.kid)
  assert.deepEqual([kids[0], kids.length], [kid, 2])
  for (const other of published) assert.ok(!kids.includes(other.kid))
  assert.equal((await shared()).length, 3)
})
