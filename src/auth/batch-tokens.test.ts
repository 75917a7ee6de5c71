// Batch tokens are not stored, and still end when they should.
import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { type Called, type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { encodeBase64Url } from '../lib/base64.ts'
import { MAX_BATCH_TOKEN_LENGTH, openBatchToken, sealBatchToken } from './batch-tokens.ts'
import { SYSTEM_FOLDER } from './token-keys.ts'

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
  await server.call('POST', 'sys/policies/acl/maker', {
    policy: 'path "auth/token/*" { capabilities = ["create", "update", "read", "sudo"] }',
  })
})

const authOf = ({ body }: Called) => body.auth as Record<string, unknown>
const create = (fields: object, token?: string): Promise<Called> =>
  server.call('POST', 'auth/token/create', fields, token)
const make = async (fields: object, token?: string): Promise<string> =>
  String(authOf(await create(fields, token)).client_token)
const batch = (fields: object = {}, token?: string) => make({ type: 'batch', policies: ['default'], ...fields }, token)
const lookupSelf = (token: string) => server.call('GET', 'auth/token/lookup-self', undefined, token)

test('a batch token is not stored, shows itself, and has no accessor', async () => {
  const before = await server.store.scan('', '', 100_000)
  const token = await batch({ meta: { a: 'b' }, ttl: '10m', display_name: 'x' })
  const after = await server.store.scan('', '', 100_000)
  assert.deepEqual(
    after.map(({ key }) => key),
    before.map(({ key }) => key),
  )
  const { data } = (await lookupSelf(token)).body
  assert.deepEqual(
    [data?.type, data?.accessor, data?.ttl, data?.meta, data?.renewable, data?.display_name],
    ['batch', '', 600, { a: 'b' }, false, 'token-x'],
  )
})

/** Entries as 0.1.0 wrote them: with the required members only, and with all. */
const SHORTEST = '{"f":1,"p":["default"],"a":"auth/token/create","c":1767225600000,"x":1767229200000,"t":3600}'
const WRITTEN = [
  SHORTEST,
  '{"f":1,"p":["default","p"],"a":"auth/token/create","c":1767225600000,"x":1767229200000,"t":3600,"n":"ns1",' +
    '"d":"token-x","m":{"a":"b"},"u":"a1b2","k":7200,"e":"e1:1","b":["10.0.0.0/8"],"r":"role","l":"mount-1"}',
]

test('batch tokens that were given out before open, and are sealed again from the same bytes', () => {
  const { barrier } = server.node.storage
  for (const json of WRITTEN) {
    const ending = json.includes('"n":"ns1"') ? '.ns1' : ''
    const text = `hvb.${encodeBase64Url(barrier.seal(`${SYSTEM_FOLDER}token/batch`, Buffer.from(json)))}`
    for (const other of ['', '.', '.ns1', '.ns2', '.ns1.ns1'])
      assert.equal(openBatchToken(barrier, text + other) !== undefined, other === ending, json + other)
    const entry = openBatchToken(barrier, text + ending)
    assert.ok(entry, json)
    const sealed = sealBatchToken(barrier, entry).slice('hvb.'.length)
    assert.ok(sealed.endsWith(ending))
    const again = Buffer.from(sealed.split('.')[0] ?? '', 'base64url')
    assert.equal(barrier.open(`${SYSTEM_FOLDER}token/batch`, again).toString(), json)
  }
})

test('a batch token with a member of another kind is none', () => {
  const { barrier } = server.node.storage
  for (const json of [
    SHORTEST.replace('["default"]', '"default"'),
    SHORTEST.replace('"x":1767229200000,', ''),
    '{"f":2}',
    '[]',
  ]) {
    const text = `hvb.${encodeBase64Url(barrier.seal(`${SYSTEM_FOLDER}token/batch`, Buffer.from(json)))}`
    assert.equal(openBatchToken(barrier, text), undefined, json)
  }
})

test('a batch token with the policy root is none: nobody gives one out', () => {
  const { barrier } = server.node.storage
  for (const policies of ['["root"]', '["default","root"]']) {
    const json = SHORTEST.replace('["default"]', policies)
    const text = `hvb.${encodeBase64Url(barrier.seal(`${SYSTEM_FOLDER}token/batch`, Buffer.from(json)))}`
    assert.equal(openBatchToken(barrier, text), undefined, json)
  }
})

test('a batch token survives a restart', async () => {
  const token = await batch()
  const [key] = server.shares
  const again = await startMemoryServer({ store: server.store, key: key as Buffer })
  assert.equal((await again.call('GET', 'auth/token/lookup-self', undefined, token)).status, 200)
})

test('a batch token ends at its time, at the second', async () => {
  const token = await batch({ ttl: '60s' })
  server.advance(59)
  assert.equal((await lookupSelf(token)).status, 200)
  server.advance(1)
  assert.equal((await lookupSelf(token)).status, 403)
})

test('T-03: a batch token ends with its parent: revoked, expired, or orphaning its other children', async () => {
  const ends: readonly ((parent: string) => unknown)[] = [
    (token) => server.call('POST', 'auth/token/revoke', { token }),
    (token) => server.call('POST', 'auth/token/revoke-orphan', { token }),
    () => server.advance(101),
  ]
  for (const end of ends) {
    const parent = await make({ policies: ['maker'], ttl: '100s' })
    const token = await batch({ ttl: '1h' }, parent)
    assert.equal((await lookupSelf(token)).status, 200)
    await end(parent)
    assert.equal((await lookupSelf(token)).status, 403)
  }
})

test('an orphan batch token goes on without the one that made it', async () => {
  const parent = await make({ policies: ['maker'] })
  const token = await batch({ no_parent: true }, parent)
  await server.call('POST', 'auth/token/revoke', { token: parent })
  assert.equal((await lookupSelf(token)).status, 200)
})

test('a batch token cannot be renewed, revoked, counted, or make tokens', async () => {
  const token = await batch({ policies: ['maker'] })
  const refused: readonly (readonly [string, object, string?])[] = [
    ['auth/token/renew', { token }],
    ['auth/token/renew-self', {}, token],
    ['auth/token/revoke', { token }],
    ['auth/token/revoke-self', {}, token],
    ['auth/token/revoke-orphan', { token }],
    ['auth/token/create', {}, token],
    ['auth/token/create', { type: 'batch' }, token],
    ['auth/token/create', { type: 'batch', num_uses: 1 }],
    ['auth/token/create', { type: 'batch', period: 60 }],
    ['auth/token/create', { type: 'batch', explicit_max_ttl: 60 }],
    ['auth/token/create', { type: 'batch', id: 'own' }],
    ['auth/token/create', { type: 'batch', policies: ['root'] }],
    ['auth/token/create', { type: 'batch' }],
  ]
  for (const [path, fields, by] of refused) {
    assert.equal((await server.call('POST', path, fields, by)).status, 400, `${path} ${JSON.stringify(fields)}`)
  }
  assert.equal((await lookupSelf(token)).status, 200)
})

test('a changed text is no token, whichever character is changed', async () => {
  const token = await batch()
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === 'A' ? 'B' : 'A'
    const changed = token.slice(0, at) + other + token.slice(at + 1)
    assert.equal((await lookupSelf(changed)).status, 403, `at ${at}`)
  }
  for (const text of ['hvb.', 'hvb.AAAA', `${token}A`, `${token}=`, token.slice(0, -4), `hvb.${'A'.repeat(6200)}`]) {
    assert.equal((await lookupSelf(text)).status, 403, text.slice(0, 40))
  }
})

test('a stored value is no batch token: the seal is bound to its use', async () => {
  for (const { key, value } of await server.store.scan('root/sys/', '', 1000)) {
    assert.equal((await lookupSelf(`hvb.${value.toString('base64url')}`)).status, 403, key)
  }
})

test('a batch token that would not fit into a header is refused with its reason', async () => {
  const { status, body } = await create({ type: 'batch', policies: ['default'], meta: { note: 'x'.repeat(6000) } })
  assert.equal(status, 400)
  assert.match(JSON.stringify(body), /metadata/)
  const fitting = await batch({ meta: { note: 'x'.repeat(4000) } })
  assert.ok(fitting.length <= MAX_BATCH_TOKEN_LENGTH)
  assert.equal((await lookupSelf(fitting)).status, 200)
})

test('while the server is sealed no batch token is known', async () => {
  const own = await startMemoryServer()
  const { body } = await own.call('POST', 'auth/token/create', { type: 'batch', policies: ['default'] })
  const token = String((body.auth as Record<string, unknown>).client_token)
  await own.node.operations.seal()
  assert.equal((await own.call('GET', 'auth/token/lookup-self', undefined, token)).status, 503)
  await own.node.operations.unseal(own.shares[0] as Buffer)
  assert.equal((await own.call('GET', 'auth/token/lookup-self', undefined, token)).status, 200)
})
