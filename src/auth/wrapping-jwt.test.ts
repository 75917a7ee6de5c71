import { strict as assert } from 'node:assert'
import { createPublicKey, verify } from 'node:crypto'
import { test } from 'node:test'
import { type Called, type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { generateEs512 } from '../crypto/jwt/es512.ts'
import { realWorld } from '../lib/world.ts'
import { systemScope } from '../storage/contract.ts'

const ADDRESS = 'https://keys.example:8200'
const POLICY = 'path "sys/*" { capabilities = ["read"] }'
const stage = () => startMemoryServer({ facts: { apiAddress: ADDRESS } })
const wrapped = (server: MemoryServer, method: string, path: string, body?: unknown) =>
  server.call(method, path, body, 'root', { wrapTtl: '60', wrapFormat: 'jwt' })
const infoOf = ({ body }: Called) => body.wrap_info as Readonly<Record<string, string>>
const tokenOf = (answer: Called): string => String(infoOf(answer).token)
const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

async function wrappedPolicy(server: MemoryServer): Promise<string> {
  await server.call('POST', 'sys/policies/acl/p', { policy: POLICY })
  return tokenOf(await wrapped(server, 'GET', 'sys/policies/acl/p'))
}

test('a wrapping token in JWT form says where it opens, under the key that is published', async () => {
  const server = await stage()
  const jwt = await wrappedPolicy(server)
  const { jti, ...claims } = claimsOf(jwt)
  const now = Date.UTC(2026, 0, 1) / 1000
  assert.deepEqual(claims, {
    accessor: '',
    addr: ADDRESS,
    exp: now + 60,
    iat: now,
    nbf: now - 5,
    type: 'wrapping',
  })
  assert.match(jti, /^hvs\./)
  const { data } = (await server.call('GET', 'sys/wrapping/pubkey', undefined, '')).body
  const dot = jwt.lastIndexOf('.')
  const key = { key: createPublicKey(String(data?.public_key)), dsaEncoding: 'ieee-p1363' } as const
  assert.ok(verify('sha512', Buffer.from(jwt.slice(0, dot)), key, Buffer.from(jwt.slice(dot + 1), 'base64url')))
  assert.equal(data?.jwt_curve, 'p521')
})

test('it is accepted wherever a wrapping token is, once', async () => {
  for (const how of ['as the token', 'in the body'] as const) {
    const server = await stage()
    const jwt = await wrappedPolicy(server)
    const call = (method: string, path: string, by = 'root') =>
      how === 'as the token' ? server.call(method, path, undefined, jwt) : server.call(method, path, { token: jwt }, by)
    assert.equal((await call('POST', 'sys/wrapping/lookup', '')).body.data?.creation_path, 'sys/policies/acl/p')
    // A wrapping token may itself do all of these, except rewrap.
    const again = tokenOf(await server.call('POST', 'sys/wrapping/rewrap', { token: jwt }))
    assert.equal(claimsOf(again).addr, ADDRESS)
    assert.equal((await call('POST', 'sys/wrapping/unwrap')).status, 400)
    const opened = await server.call('POST', 'sys/wrapping/unwrap', undefined, again)
    assert.equal(opened.body.data?.policy, POLICY)
    assert.equal((await server.call('POST', 'sys/wrapping/unwrap', { token: again })).status, 400)
  }
})

test('the token inside opens as well, and nothing else does', async () => {
  const server = await stage()
  const jwt = await wrappedPolicy(server)
  const [header = '', , signature = ''] = jwt.split('.')
  const claims = claimsOf(jwt)
  const forged = (changed: object) =>
    `${header}.${Buffer.from(JSON.stringify({ ...claims, ...changed })).toString('base64url')}.${signature}`
  for (const bad of [
    forged({ addr: 'https://elsewhere' }),
    forged({ jti: 'root' }),
    forged({ type: 'x' }),
    `${jwt}A`,
  ]) {
    assert.equal((await server.call('POST', 'sys/wrapping/unwrap', { token: bad })).status, 400)
    assert.equal((await server.call('POST', 'sys/wrapping/unwrap', undefined, bad)).status, 400)
    assert.equal((await server.call('POST', 'sys/wrapping/lookup', { token: bad }, '')).status, 400)
  }
  // It is no token for anything else.
  assert.equal((await server.call('GET', 'sys/policies/acl/p', undefined, jwt)).status, 403)
  assert.equal((await server.call('POST', 'sys/wrapping/unwrap', { token: claims.jti })).status, 200)
})

test('a login in it names its accessor; it ends with the token inside', async () => {
  const server = await stage()
  const answer = await wrapped(server, 'POST', 'auth/token/create', { policies: ['default'] })
  assert.equal(claimsOf(tokenOf(answer)).accessor, infoOf(answer).wrapped_accessor)
  server.advance(60)
  assert.equal((await server.call('POST', 'sys/wrapping/unwrap', { token: tokenOf(answer) })).status, 400)
})

test('what a caller made up is never signed; other forms are refused by name', async () => {
  const server = await stage()
  assert.match(tokenOf(await wrapped(server, 'POST', 'sys/wrapping/wrap', { addr: 'x' })), /^hvs\./)
  // Nor where it is unwrapped to be wrapped again.
  const token = tokenOf(await server.call('POST', 'sys/wrapping/wrap', { addr: 'x' }, 'root', { wrapTtl: '60' }))
  const asJwt = { wrapTtl: '60', wrapFormat: 'jwt' }
  const again = await server.call('POST', 'sys/wrapping/unwrap', { token }, 'root', asJwt)
  assert.match(tokenOf(again), /^hvs\./)
  const other = await server.call('GET', 'sys/mounts', undefined, 'root', { wrapTtl: '60', wrapFormat: 'cwt' })
  assert.equal(other.status, 400)
  assert.match(JSON.stringify(other.body.errors), /X-Vault-Wrap-Format/)
})

test('the key is one for ever: after a seal and a restart the same signs', async () => {
  const server = await stage()
  const pem = async (of: MemoryServer) => (await of.call('GET', 'sys/wrapping/pubkey', undefined, '')).body.data
  const before = await pem(server)
  const jwt = await wrappedPolicy(server)
  await server.node.operations.seal()
  const [share = Buffer.alloc(0)] = server.shares
  const again = await startMemoryServer({ store: server.store, key: share, facts: { apiAddress: ADDRESS } })
  assert.deepEqual(await pem(again), before)
  assert.equal((await again.call('POST', 'sys/wrapping/unwrap', { token: jwt })).status, 200)
})

test('another key that comes into the store signs from then on and is published', async () => {
  const server = await stage()
  const pem = async () => (await server.call('GET', 'sys/wrapping/pubkey', undefined, '')).body.data?.public_key
  const [before, jwt] = [await pem(), await wrappedPolicy(server)]
  const view = server.node.storage.view(systemScope, 'root/core/')
  await view.transaction(async (tx) => tx.put('wrapping-key', generateEs512(realWorld().random.bytes)))
  const after = String(await pem())
  assert.notEqual(after, before)
  const again = await wrappedPolicy(server)
  const dot = again.lastIndexOf('.')
  const key = { key: createPublicKey(after), dsaEncoding: 'ieee-p1363' } as const
  assert.ok(verify('sha512', Buffer.from(again.slice(0, dot)), key, Buffer.from(again.slice(dot + 1), 'base64url')))
  assert.equal((await server.call('POST', 'sys/wrapping/unwrap', { token: jwt })).status, 400)
})
