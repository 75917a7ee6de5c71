import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { type ServingNodeBeside, servingBeside } from '../../test/fixtures/serving-node.ts'
import { ACTIVE_PRIMARY, FOLLOWS_NONE, type NodeRole, type RoleState } from '../api/node-role.ts'
import { systemScope } from '../storage/contract.ts'
import type { SealState } from './seal-state.ts'

const stateOf = (role: Partial<NodeRole>, primaryAddress = ''): RoleState => ({
  role: { ...ACTIVE_PRIMARY, ...role },
  primaryAddress,
})
const SECONDARY = stateOf({ performance: 'secondary' }, 'https://primary:8200')

const errorsOf = ({ status, body }: Awaited<ReturnType<MemoryServer['call']>>): unknown => [status, body.errors]
const NOT_HERE = [503, ['This cluster does not change what the set shares: its primary does, at https://primary:8200']]

test('a write of what the set shares is a 503 that names the primary, on every thread', async () => {
  const server = await startMemoryServer()
  await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await server.call('POST', 'transit/keys/k')
  const serving = await servingBeside(server)
  await server.node.changeRole(SECONDARY)
  const before = await server.store.lastIndex()
  assert.deepEqual(errorsOf(await server.call('POST', 'transit/keys/new')), NOT_HERE)
  assert.deepEqual(errorsOf(await serving.send('POST', 'transit/keys/new', undefined)), NOT_HERE)
  assert.deepEqual(errorsOf(await server.call('DELETE', 'sys/policies/acl/missing')), NOT_HERE)
  assert.equal(await server.store.lastIndex(), before)
  // What is of its own cluster it goes on to write.
  const made = await server.call('POST', 'auth/token/create', { ttl: '1h' })
  assert.equal(made.status, 200)
  await server.node.changeRole(FOLLOWS_NONE)
  assert.equal((await server.call('POST', 'transit/keys/new')).status, 200)
})

test('a node that may write nothing of its cluster says so, and goes on to read', async () => {
  const server = await startMemoryServer()
  await server.node.changeRole(stateOf({ isFenced: true }, 'https://primary:8200'))
  const made = await server.call('POST', 'auth/token/create', { ttl: '1h' })
  const sentence = 'This node changes no data in its role: its primary does, at https://primary:8200'
  assert.deepEqual(errorsOf(made), [503, [sentence]])
  assert.equal((await server.call('GET', 'sys/mounts')).status, 200)
})

test('the gate of the store closes, and what it let pass has ended, before any thread is told', async () => {
  const did: string[] = []
  const server = await startMemoryServer({ announce: async () => void did.push('told') })
  const { store, node } = server
  const setWritable = store.setWritable.bind(store)
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  store.setWritable = async (mayWrite) => {
    await setWritable(mayWrite)
    did.push('closed')
    await ended
    did.push('ended')
  }
  did.length = 0
  const changed = node.changeRole(SECONDARY)
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
  assert.deepEqual(did, ['closed'])
  end()
  await changed
  assert.deepEqual(did, ['closed', 'ended', 'told'])
})

test('each state that threads are told has the role, while sealed and while open', async () => {
  const told: SealState[] = []
  const server = await startMemoryServer({ announce: async (news) => void told.push(news) })
  const { node, shares } = server
  const last = (): unknown => {
    const news = told.at(-1)
    return [news?.status.sealed, news?.role.role.dr]
  }
  assert.deepEqual(last(), [false, 'disabled'])
  await node.operations.seal()
  await node.changeRole(stateOf({ dr: 'secondary' }))
  assert.deepEqual(last(), [true, 'secondary'])
  for (const share of shares) await node.operations.unseal(share)
  assert.deepEqual(last(), [false, 'secondary'])
})

test('a change of role comes after the unseal, and before the seal, that it was asked for between', async () => {
  const told: string[] = []
  const server = await startMemoryServer({
    announce: async ({ status, role }) => void told.push(`${status.sealed ? 'sealed' : 'open'} ${role.role.dr}`),
  })
  const { node, shares } = server
  await node.operations.seal()
  told.length = 0
  const [share = Buffer.alloc(0)] = shares
  await Promise.all([
    node.operations.unseal(share),
    node.changeRole(stateOf({ dr: 'secondary' })),
    node.operations.seal(),
    node.changeRole(FOLLOWS_NONE),
  ])
  assert.deepEqual(told, ['open disabled', 'open secondary', 'sealed secondary', 'sealed disabled'])
})

test('a node that lacks the keys of its cluster opens where it may make none, and makes them later', async () => {
  const { store, node, shares } = await startMemoryServer()
  const KEYS = ['root/sys/token/key', 'root/core/audit-key']
  await store.transaction(async (tx) => {
    for (const key of KEYS) tx.delete(systemScope, key)
  })
  await node.operations.seal()
  let serving: ServingNodeBeside | undefined
  const copy = await startMemoryServer({
    store,
    key: shares[0] as Buffer,
    firstRole: stateOf({ isStandby: true }),
    announce: async (news) => serving?.told(news),
  })
  serving = await servingBeside(copy)
  assert.equal(copy.node.seal.status().sealed, false)
  assert.equal((await copy.call('GET', 'sys/mounts')).status, 503)
  assert.equal(copy.node.audit.publicKey(), '')
  for (const key of KEYS) assert.equal(await store.get(key), undefined)
  await copy.node.changeRole(SECONDARY)
  for (const key of KEYS) assert.notEqual(await store.get(key), undefined)
  const token = await copy.node.tokens.issue(copy.node.tokenService.rootEntry())
  assert.equal((await copy.call('GET', 'sys/mounts', undefined, token)).status, 200)
  assert.equal((await serving.send('GET', 'sys/mounts', undefined, { token })).status, 200)
  await copy.node.audit.ready()
  assert.notEqual(copy.node.audit.publicKey(), '')
})

/** Opens the store of a server in a role that changes nothing. It takes no entry of class local until it is allowed. */
async function openedWithoutLocal({ store, node, shares }: MemoryServer) {
  await node.operations.seal()
  const firstRole = stateOf({ isStandby: true })
  const copy = await startMemoryServer({ store, key: shares[0] as Buffer, firstRole })
  const { setWritable } = store
  store.setWritable = (mayWrite) =>
    setWritable.call(store, (storageClass, key) => storageClass !== 'local' && mayWrite(storageClass, key))
  const allowLocal = (): void => {
    store.setWritable = setWritable
  }
  return { copy, allowLocal }
}

test('keys that could not be made at a change of role are made at the next one, and none is used before', async () => {
  const server = await startMemoryServer()
  await server.store.transaction(async (tx) => tx.delete(systemScope, 'root/sys/token/key'))
  const { copy, allowLocal } = await openedWithoutLocal(server)
  await assert.rejects(copy.node.changeRole(SECONDARY), { name: 'WriteNotAllowed' })
  assert.throws(() => copy.node.tokens.idOf('a'), { name: 'Sealed' })
  allowLocal()
  await copy.node.changeRole(SECONDARY)
  assert.notEqual(copy.node.tokens.idOf('a'), '')
})

test('F3: work before serving that fails holds up no other work of the new role', async () => {
  const server = await startMemoryServer()
  const { store } = server
  const WRAPPING_KEY = 'root/core/wrapping-key'
  for (const key of ['root/sys/token/key', WRAPPING_KEY])
    await store.transaction(async (tx) => tx.delete(systemScope, key))
  const { copy } = await openedWithoutLocal(server)
  await assert.rejects(copy.node.changeRole(FOLLOWS_NONE), { name: 'WriteNotAllowed' })
  assert.notEqual(await store.get(WRAPPING_KEY), undefined)
})
