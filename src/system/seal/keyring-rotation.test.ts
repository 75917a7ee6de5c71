// Terms of the keyring through the pipeline: what encrypts, what still opens, what a crash leaves of the count.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { realWorld } from '../../lib/world.ts'
import { sealRecord } from '../../storage/barrier.ts'
import { systemScope } from '../../storage/contract.ts'
import { firstKeyring, type Keyring } from '../../storage/keyring.ts'
import { MOST_MAX_OPERATIONS } from '../../storage/keyring-limits.ts'
import { encodeKeyUse, firstUses, KEY_USE } from './key-use.ts'

const WINDOW = 2 ** 20
const POLICY = 'path "a" { capabilities = ["read"] }'
const termOf = (record: Buffer | undefined): number | undefined => record?.readUInt32BE(1)

test('rotate gives a new term for what is written from then on; what was written before stays readable', async () => {
  const { call, store, node } = await startMemoryServer()
  await call('POST', 'sys/policies/acl/old', { policy: 'path "a" { capabilities = ["read"] }' })
  const [first] = node.storage.barrier.keyring?.terms.keys() ?? []
  for (const [index, path] of ['sys/rotate', 'sys/rotate/keyring'].entries()) {
    assert.equal((await call('POST', path)).status, 204)
    const { body } = await call('GET', 'sys/key-status')
    assert.deepEqual([body.term, body.encryptions], [index + 2, 0])
    assert.deepEqual(body.data?.term, index + 2)
  }
  await call('POST', 'sys/policies/acl/new', { policy: 'path "b" { capabilities = ["read"] }' })
  assert.equal(termOf(await store.get('root/sys/policy/old')), first)
  assert.equal(
    termOf(await store.get('root/sys/policy/new')),
    [...(node.storage.barrier.keyring?.terms.keys() ?? [])][2],
  )
  assert.match(String((await call('GET', 'sys/policies/acl/old')).body.data?.policy), /path "a"/)
})

test('numbers of terms are drawn, and come again from the same seed; clients see 1, 2, 3', async () => {
  const run = async (seed: number) => {
    const source = new SeededRandom(seed)
    const random = { bytes: (count: number) => source.bytes(count), uuid: () => source.uuid() }
    const { call, node } = await startMemoryServer({ world: { random } })
    for (let term = 2; term < 5; term++) {
      await call('POST', 'sys/rotate')
      assert.equal((await call('GET', 'sys/key-status')).body.term, term)
    }
    return [...(node.storage.barrier.keyring?.terms.keys() ?? [])]
  }
  const terms = await run(1)
  assert.deepEqual(await run(1), terms)
  assert.equal(new Set([...terms, ...(await run(2))]).size, 8)
})

test('after seal and unseal all terms are there', async () => {
  const { call, shares } = await startMemoryServer()
  await call('POST', 'sys/policies/acl/old', { policy: 'path "a" { capabilities = ["read"] }' })
  await call('POST', 'sys/rotate')
  await call('PUT', 'sys/seal')
  await call('PUT', 'sys/unseal', { key: shares[0]?.toString('hex') })
  assert.equal((await call('GET', 'sys/key-status')).body.term, 2)
  assert.equal((await call('GET', 'sys/policies/acl/old')).status, 200)
})

test('every thread knows a term before anything is sealed with it, also one that joins meanwhile', async () => {
  const known: Keyring[] = []
  let present: () => Keyring | undefined = () => undefined
  const told: [number | undefined, number][] = []
  const { call, node, store } = await startMemoryServer({
    announce: async ({ keyring }) => {
      if (keyring === undefined) return
      told.push([keyring.activeTerm, keyring.terms.size])
      // A thread that joins hears what the writing thread has at that moment (src/process/writer.ts).
      const joining = present()
      if (joining !== undefined) known.push(keyring, joining)
    },
  })
  present = () => node.storage.barrier.keyring
  told.length = 0
  const before = present()?.activeTerm
  await call('POST', 'sys/rotate')
  const after = present()?.activeTerm
  assert.deepEqual(told, [
    [before, 2],
    [after, 2],
  ])
  await call('POST', 'sys/policies/acl/new', { policy: POLICY })
  const record = (await store.get('root/sys/policy/new')) as Buffer
  assert.equal(known.length, 4)
  for (const keyring of known) assert.ok(keyring.terms.has(termOf(record) as number))
})

test('threads have a term that is added while the server opens', async () => {
  let beforeNext: () => Promise<void> = async () => {}
  const first = await startMemoryServer()
  const store = new Proxy(first.store, {
    get: (target, name) => {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'transaction') return member.bind(target)
      return async (work: () => Promise<unknown>) => {
        await beforeNext()
        return member.call(target, work)
      }
    },
  })
  const told: Keyring[] = []
  const { call, node, shares } = await startMemoryServer({
    store,
    key: first.shares[0] as Buffer,
    announce: async ({ keyring }) => {
      if (keyring !== undefined) told.push(keyring)
    },
  })
  // The next opening makes the key that is missing. That is its first transaction once the barrier is open.
  await store.transaction(async (tx) => tx.delete(systemScope, 'root/core/wrapping-key'))
  await call('PUT', 'sys/seal')
  beforeNext = async () => {
    if (node.storage.barrier.sealed) return
    beforeNext = async () => {}
    await node.operations.rotation.rotate()
  }
  await node.operations.unseal(shares[0] as Buffer)
  assert.equal((await call('GET', 'sys/key-status')).body.term, 2)
  assert.equal(told.at(-1)?.terms.size, 2)
})

test('P-11: the count goes on over an orderly seal, and is never too low after a crash', async () => {
  const first = await startMemoryServer()
  const count = async (call: typeof first.call) => Number((await call('GET', 'sys/key-status')).body.encryptions)
  for (let i = 0; i < 5; i++) await first.call('POST', `sys/policies/acl/p${i}`, { policy: POLICY })
  const before = await count(first.call)
  assert.ok(before >= 5)
  const key = first.shares[0]?.toString('hex')
  await first.call('PUT', 'sys/seal')
  await first.call('PUT', 'sys/unseal', { key })
  const after = await count(first.call)
  assert.ok(after >= before && after < before + 10, `${before} ${after}`)
  // The count was not stored since. A second server on the same store must assume the largest count possible.
  const second = await startMemoryServer({ store: first.store, key: first.shares[0] as Buffer })
  const crashed = await count(second.call)
  assert.ok(crashed >= after + WINDOW && crashed < after + WINDOW + 10, `${after} ${crashed}`)
})

/** A server that has sealed nearly as often as is safe, and was stopped. */
async function nearTheLimit() {
  const first = await startMemoryServer()
  const rootKey = first.node.seal.rootKey
  const near = MOST_MAX_OPERATIONS - 3
  const record = sealRecord(
    rootKey,
    0,
    KEY_USE,
    Buffer.alloc(12, 1),
    encodeKeyUse(firstUses(first.node.storage.barrier.keyring as Keyring, near)),
  )
  await first.store.transaction(async (tx) => tx.put(systemScope, KEY_USE, record))
  return first
}

test('P-11: near the limit the keyring gets a new term by itself', async () => {
  const first = await nearTheLimit()
  const { call } = await startMemoryServer({ store: first.store, key: first.shares[0] as Buffer })
  assert.deepEqual((await call('GET', 'sys/key-status')).body.term, 1)
  for (let i = 0; i < 3; i++) await call('POST', `sys/policies/acl/p${i}`, { policy: POLICY })
  await call('POST', 'sys/policies/acl/last', { policy: POLICY })
  const { body } = await call('GET', 'sys/key-status')
  assert.equal(body.term, 2)
  assert.ok(Number(body.encryptions) < 10)
})

test('P-11: near the limit it gets one also if nobody can read when the operator wants it', async () => {
  const first = await nearTheLimit()
  await first.store.transaction(async (tx) => tx.put(systemScope, 'root/core/rotation', Buffer.alloc(64)))
  const { call, node } = await startMemoryServer({ store: first.store, key: first.shares[0] as Buffer })
  assert.equal((await call('GET', 'sys/rotate/config')).status, 500)
  for (let i = 0; i < 4; i++) await call('POST', `sys/policies/acl/p${i}`, { policy: POLICY })
  await node.operations.rotation.check()
  assert.equal((await call('GET', 'sys/key-status')).body.term, 2)
})

test('P-11: what was granted to others counts, so the term is changed earlier', async () => {
  const first = await startMemoryServer()
  const { rootKey } = first.node.seal
  const uses = {
    ...firstUses(first.node.storage.barrier.keyring as Keyring, 10),
    grants: new Map([['other', MOST_MAX_OPERATIONS - 100]]),
  }
  const store = async (record: Buffer) => first.store.transaction(async (tx) => tx.put(systemScope, KEY_USE, record))
  await store(sealRecord(rootKey, 0, KEY_USE, Buffer.alloc(12, 1), encodeKeyUse(uses)))
  const { call, node } = await startMemoryServer({ store: first.store, key: first.shares[0] as Buffer })
  await node.operations.rotation.check()
  assert.equal((await call('GET', 'sys/key-status')).body.term, 1)
  assert.ok(Number((await call('GET', 'sys/key-status')).body.encryptions) >= MOST_MAX_OPERATIONS - 90)
  for (let i = 0; i < 100; i++) await call('POST', `sys/policies/acl/p${i}`, { policy: POLICY })
  await node.operations.rotation.check()
  const { body } = await call('GET', 'sys/key-status')
  assert.equal(body.term, 2)
  assert.ok(Number(body.encryptions) < 200)
})

test('P-11: a count of another term than the active one is no count', async () => {
  const first = await startMemoryServer()
  const { rootKey } = first.node.seal
  const use = firstUses(firstKeyring(realWorld().random, Buffer.alloc(32, 7), 0), 10)
  const record = sealRecord(rootKey, 0, KEY_USE, Buffer.alloc(12, 1), encodeKeyUse(use))
  await first.store.transaction(async (tx) => tx.put(systemScope, KEY_USE, record))
  const { call } = await startMemoryServer({ store: first.store, key: first.shares[0] as Buffer })
  assert.equal((await call('GET', 'sys/key-status')).body.term, 2)
})

test('an interval that is over gives a new term; figures out of bounds are refused by name', async () => {
  const { call, node, advance } = await startMemoryServer()
  assert.equal((await call('POST', 'sys/rotate/config', { interval: '24h', max_operations: 1_000_000 })).status, 204)
  const { body } = await call('GET', 'sys/rotate/config')
  assert.deepEqual(body.data, { enabled: true, max_operations: 1_000_000, interval: 86_400 })
  await node.operations.rotation.check()
  assert.equal(node.operations.rotation.status().term, 1)
  advance(86_400)
  await node.operations.rotation.check()
  assert.equal(node.operations.rotation.status().term, 2)
  for (const bad of [{ interval: '23h' }, { max_operations: 999_999 }, { max_operations: MOST_MAX_OPERATIONS + 1 }]) {
    const refused = await call('POST', 'sys/rotate/config', bad)
    assert.equal(refused.status, 400)
    assert.ok(JSON.stringify(refused.body).includes(Object.keys(bad)[0] as string))
  }
})

test('rotation asks for sudo', async () => {
  const { call } = await startMemoryServer()
  await call('POST', 'sys/policies/acl/almost', { policy: 'path "sys/rotate" { capabilities = ["update"] }' })
  const made = await call('POST', 'auth/token/create', { policies: ['almost'] })
  const token = String((made.body.auth as Record<string, unknown>).client_token)
  assert.equal((await call('POST', 'sys/rotate', {}, token)).status, 403)
})

test('rotations at the same time give one term each', async () => {
  const { call } = await startMemoryServer()
  const writes = Array.from({ length: 20 }, (_, i) => call('POST', `sys/policies/acl/p${i}`, { policy: POLICY }))
  const rotations = Array.from({ length: 5 }, () => call('POST', 'sys/rotate'))
  for (const { status } of await Promise.all([...writes, ...rotations])) assert.equal(status, 204)
  assert.equal((await call('GET', 'sys/key-status')).body.term, 6)
  for (let i = 0; i < 20; i++) assert.equal((await call('GET', `sys/policies/acl/p${i}`)).status, 200)
})
