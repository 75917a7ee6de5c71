// A data key that was used as often as is safe. Only a primary adds another one; its followers write nothing before.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { cloneOf } from '../../test/fixtures/cloned-server.ts'
import { type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { servingBeside } from '../../test/fixtures/serving-node.ts'
import { turns } from '../../test/fixtures/turns.ts'
import { ACTIVE_PRIMARY, FOLLOWS_NONE, type NodeRole, type RoleState } from '../api/node-role.ts'
import { systemScope } from '../storage/contract.ts'
import { MAX_ENCRYPTIONS } from '../storage/keyring-limits.ts'
import { KEY_USE } from '../system/seal/key-use.ts'
import { KEYRING } from '../system/seal/seal-records.ts'
import { VERSION } from '../version.ts'

const roleOf = (role: Partial<NodeRole>, primaryAddress = ''): RoleState => ({
  role: { ...ACTIVE_PRIMARY, ...role },
  primaryAddress,
})
const errorsOf = ({ status, body }: Awaited<ReturnType<MemoryServer['call']>>): unknown => [status, body.errors]
const bodyOf = (body: object): Buffer => Buffer.from(JSON.stringify(body))
const useUp = ({ node }: MemoryServer): void => node.storage.barrier.countFrom(MAX_ENCRYPTIONS)

const USED_UP = 'Nothing can be written: the data key has been used as often as is safe.'
const ROTATE = [503, [`${USED_UP} Rotate the keyring (sys/rotate), on the primary if this cluster follows one`]]
const THERE = [
  503,
  [
    `${USED_UP} Rotate the keyring (sys/rotate) on the primary, at https://p:8200; ` +
      'the new key comes over the link to it',
  ],
]

test('S1: a write under a data key that is used up is a 503 that says who must rotate, on every thread', async () => {
  const server = await startMemoryServer()
  const serving = await servingBeside(server)
  useUp(server)
  assert.deepEqual(errorsOf(await server.call('PUT', 'cubbyhole/a', { a: 'b' })), ROTATE)
  await server.node.changeRole(roleOf({ performance: 'secondary' }, 'https://p:8200'))
  assert.deepEqual(errorsOf(await server.call('POST', 'auth/token/create', { ttl: '1h' })), THERE)
  assert.deepEqual(errorsOf(await serving.send('PUT', 'cubbyhole/a', bodyOf({ a: 'b' }))), THERE)
  await server.node.changeRole(FOLLOWS_NONE)
  assert.equal((await server.call('POST', 'sys/rotate')).status, 204)
  assert.equal((await server.call('PUT', 'cubbyhole/a', { a: 'b' })).status, 204)
})

for (const [name, role] of [
  ['a performance secondary', { performance: 'secondary' }],
  ['a secondary for disaster recovery', { dr: 'secondary' }],
  ['a fenced primary', { isFenced: true }],
] as const) {
  test(`S1: ${name} whose data key is used up opens, since only an open one gets the next key`, async () => {
    const { store, node, shares } = await startMemoryServer()
    const TO_BE_NOTED = ['root/core/audit-history', `root/core/version/${VERSION}`]
    await node.operations.seal()
    await store.transaction(async (tx) => {
      for (const key of [KEY_USE, ...TO_BE_NOTED]) tx.delete(systemScope, key)
    })
    const logged: unknown[] = []
    const copy = await startMemoryServer({
      store,
      key: shares[0] as Buffer,
      firstRole: roleOf(role),
      log: (_level, message, { work } = {}) => message.includes('next data key') && logged.push(work),
    })
    assert.equal(copy.node.seal.status().sealed, false)
    assert.deepEqual(logged, ['the history that audit knows', 'the version of this program'])
    copy.node.storage.barrier.countFrom(0)
    await copy.node.changeRole(roleOf(role))
    for (const key of TO_BE_NOTED) assert.notEqual(await store.get(key), undefined)
  })
}

test('S1: a server does not open without an audit device of its configuration, which it cannot store', async () => {
  const { store, node, shares } = await startMemoryServer()
  await node.operations.seal()
  await store.transaction(async (tx) => tx.delete(systemScope, KEY_USE))
  const device = { path: 'log/', type: 'file', description: '', local: false, options: { file_path: 'stdout' } }
  const opening = startMemoryServer({
    store,
    key: shares[0] as Buffer,
    firstRole: roleOf({ performance: 'secondary' }),
    audit: { settings: { declared: [device], allowsApi: true } },
  })
  await assert.rejects(opening, { name: 'DataKeyUsedUp' })
})

/** More than what waits for a key takes to begin. */
const TURNS = 1_000
const HISTORY_OF_AUDIT = 'root/core/audit-history'
const DEVICE = { path: 'log/', type: 'file', description: '', local: false, options: { file_path: 'discard' } }

test('S1: a primary whose data key is used up gets a new one when it opens, before it writes anything', async () => {
  const server = await startMemoryServer()
  useUp(server)
  await server.node.operations.seal()
  const copy = await startMemoryServer({
    store: server.store,
    key: server.shares[0] as Buffer,
    audit: { settings: { declared: [DEVICE], allowsApi: true } },
  })
  assert.equal(copy.node.seal.status().sealed, false)
  const { term, encryptions } = copy.node.operations.rotation.status()
  assert.equal(term, 2)
  assert.ok(encryptions < 100, `${encryptions}`)
})

test('S1: what waits for a data key begins when the primary rotates', async () => {
  const { store, node, shares } = await startMemoryServer()
  await node.operations.seal()
  await store.transaction(async (tx) => [KEY_USE, HISTORY_OF_AUDIT].map((key) => tx.delete(systemScope, key)))
  const firstRole = roleOf({ isFenced: true })
  const copy = await startMemoryServer({ store, key: shares[0] as Buffer, firstRole })
  await copy.node.changeRole(FOLLOWS_NONE)
  assert.equal(await store.get(HISTORY_OF_AUDIT), undefined)
  await copy.node.operations.rotation.rotate()
  await turns(TURNS)
  assert.notEqual(await store.get(HISTORY_OF_AUDIT), undefined)
})

test('S1: a performance secondary without a key of its own for tokens serves once the next data key came', async () => {
  const primary = await startMemoryServer()
  const { store, node, shares } = await cloneOf(primary)
  const TOKEN_KEY = 'root/sys/token/key'
  await store.transaction(async (tx) => tx.delete(systemScope, TOKEN_KEY))
  await node.operations.seal()
  await store.transaction(async (tx) => [KEY_USE, HISTORY_OF_AUDIT].map((key) => tx.delete(systemScope, key)))
  const secondary = await startMemoryServer({
    store,
    key: shares[0] as Buffer,
    firstRole: roleOf({ performance: 'secondary' }),
  })
  const lookUp = async () => (await secondary.call('GET', 'auth/token/lookup-self')).status
  assert.equal(await lookUp(), 503)
  await primary.call('POST', 'sys/rotate')
  const operation = (await primary.store.changesSince(0, 1e9))
    .flatMap(({ operations }) => operations)
    .findLast(({ key }) => key === KEYRING)
  const place = { family: 'performance', historyId: Buffer.alloc(16, 7) } as const
  const origins = [{ ...place, index: 1, chain: Buffer.alloc(16, 1) }]
  const change = { origins, committedAtMs: 0, operations: [operation ?? assert.fail('no keyring')] }
  const { rotation } = secondary.node.operations
  assert.equal((await rotation.adopt([change], { mode: 'redo', after: { ...place, index: 0 } })).kind, 'adopted')
  await turns(TURNS)
  // The token was hashed with the key that it had before.
  assert.equal(await lookUp(), 403)
  for (const key of [TOKEN_KEY, HISTORY_OF_AUDIT]) assert.notEqual(await store.get(key), undefined, key)
})
