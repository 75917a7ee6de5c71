// Checks of the list of threats that no room can make alone: tokens, paths, identity and logins of a whole server.
import { strict as assert } from 'node:assert'
import { readdirSync, readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { STEPS } from '../../src/core/pipeline.ts'
import { TABLES } from '../../tools/endpoint-tables.ts'
import { PLACED_ENDPOINTS, pathsOf, WIRE_METHODS } from '../fixtures/endpoint-table.ts'
import { type Called, type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'

type Logged = { readonly message: string; readonly fields: Readonly<Record<string, unknown>> | undefined }
const logged: Logged[] = []
let server: MemoryServer
before(async () => {
  server = await startMemoryServer({ log: (_level, message, fields) => logged.push({ message, fields }) })
  await server.call('POST', 'sys/auth/approle', { type: 'approle' })
  await server.call('POST', 'sys/auth/people', { type: 'userpass' })
  await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await server.call('POST', 'transit/keys/k')
  await policy('all', 'path "*" { capabilities = ["create", "read", "update", "delete", "list", "sudo"] }')
})

const policy = (name: string, text: string) => server.call('POST', `sys/policies/acl/${name}`, { policy: text })
const authOf = ({ body }: Called) => body.auth as { readonly client_token: string; readonly accessor: string }
const make = async (fields: object) => authOf(await server.call('POST', 'auth/token/create', fields))
const isAlive = async (token: string) => (await server.call('POST', 'auth/token/lookup', { token })).status === 200
const tokensStored = async () => (await server.store.scan('root/sys/token/id/', '', 10_000)).length

test('T-08, I-07: a request that names a namespace which does not exist is answered from no other', async () => {
  const { client_token: token, accessor } = await make({ policies: ['default'] })
  const ways = [
    ['auth/token/renew-accessor', { accessor }],
    ['auth/token/revoke-accessor', { accessor }],
    ['auth/token/lookup-accessor', { accessor }],
    ['auth/token/revoke', { token }],
    ['sys/leases/revoke-prefix/auth/token', {}],
  ] as const
  for (const namespace of ['other', 'other/', '/other', 'root/other', 'root/root', 'ROOT', '..', 'sys']) {
    for (const [path, body] of ways)
      assert.equal((await server.call('POST', path, body, 'root', { namespace })).status, 404, `${namespace} ${path}`)
  }
  assert.equal(await isAlive(token), true)
})

test('T-09: a login mount is tuned with sudo only, by the old path as by the new one', async () => {
  await policy('engines', 'path "sys/mounts/*" { capabilities = ["read", "update"] }')
  await policy('logins', 'path "sys/mounts/auth/*" { capabilities = ["read", "update", "sudo"] }')
  const tune = async (policies: string, path: string) => {
    const { client_token } = await make({ policies: [policies] })
    const written = await server.call('POST', `sys/mounts/${path}/tune`, { description: 'x' }, client_token)
    const read = await server.call('GET', `sys/mounts/${path}/tune`, undefined, client_token)
    return [written.status, read.status]
  }
  assert.deepEqual(await tune('engines', 'auth/people'), [403, 403])
  assert.deepEqual(await tune('engines', 'transit'), [204, 200])
  assert.deepEqual(await tune('logins', 'auth/people'), [204, 200])
})

test('T-11: only a login method gives logins, and only endpoints that say so give tokens', async () => {
  const issue = STEPS.find(({ name }) => name === 'issue the token of a login')
  const exchange = { answer: { login: {} }, mounted: { entry: { kind: 'secret', path: 'transit/' } } }
  assert.throws(() => issue?.run(exchange as never, {} as never), /no login method/)
  const givers = TABLES.flatMap(({ mountPath, endpoints }) =>
    endpoints.filter(({ givesToken }) => givesToken === true).map(({ id }) => `${mountPath} ${id}`),
  )
  for (const giver of givers) assert.match(giver, /^(auth[/]|sys[/] leases-renew)/)
})

test('T-12: what is done follows from method and list alone, never from another word of the request', async () => {
  for (const method of ['SCAN', 'RENEW', 'REVOKE', 'ROLLBACK', 'ALIAS-LOOKAHEAD', 'RESOLVE-ROLE', 'get'])
    assert.equal((await server.call(method, 'auth/token/lookup-self')).status, 405, method)
  const stored = await tokensStored()
  for (const query of ['operation=update', 'operation=alias-lookahead', 'method=POST', 'help=']) {
    assert.equal((await server.call('GET', `auth/token/lookup-self?${query}`)).status, 200, query)
    assert.equal((await server.call('GET', `auth/token/create?${query}`)).status, 405, query)
    assert.equal((await server.call('GET', `auth/people/login/x?${query}&password=x`)).status, 405, query)
  }
  assert.equal(await tokensStored(), stored)
})

test('T-13: a token is found by a keyed digest: its text and its accessor are nowhere in the store', async () => {
  const { client_token, accessor } = await make({ policies: ['default'], meta: { a: 'b' } })
  for (const { key, value } of await server.store.scan('', '', 100_000)) {
    const text = key + value.toString('latin1')
    assert.ok(!text.includes(client_token) && !text.includes(accessor), key)
  }
})

test('T-16: taking back what an engine gave takes back no token', async () => {
  const { client_token } = await make({ policies: ['default'] })
  for (const prefix of ['transit', 'transit/', 'auth/tok', 'auth/token/creat', 'sys', 'a'])
    assert.equal(
      (await server.call('POST', `sys/leases/revoke-prefix/${prefix}`)).status,
      prefix.endsWith('/') ? 400 : 204,
    )
  assert.equal(await isAlive(client_token), true)
})

test('T-17, P-33: a server that was made has the one root token that was asked for', async () => {
  const fresh = await startMemoryServer({ shares: 0 })
  const tokens = async () => (await fresh.store.scan('root/sys/token/id/', '', 10)).length
  for (const body of [{}, { secret_shares: 1, secret_threshold: 2 }, { secret_shares: 1, pgp_keys: ['x'] }]) {
    assert.equal((await fresh.call('POST', 'sys/init', body, '')).status, 400)
    assert.equal(await tokens(), 0)
  }
  assert.equal((await fresh.call('POST', 'sys/init', { secret_shares: 1, secret_threshold: 1 }, '')).status, 200)
  assert.equal(await tokens(), 1)
})

test('T-20: the one request of a limited token may be any of the server, and it is gone then', async () => {
  const fresh = await startMemoryServer()
  await fresh.call('POST', 'sys/policies/acl/all', {
    policy: 'path "*" { capabilities = ["create", "read", "update", "delete", "list", "sudo"] }',
  })
  const stored = async () => (await fresh.store.scan('root/sys/token/id/', '', 100)).length
  const before = await stored()
  for (const placed of PLACED_ENDPOINTS.filter(({ mountPath }) => mountPath === 'sys/')) {
    const { endpoint } = placed
    if (endpoint.changesSeal === true) continue
    for (const path of pathsOf(placed, 'x')) {
      const made = await fresh.call('POST', 'auth/token/create', { policies: ['all'], num_uses: 1 })
      const token = authOf(made).client_token
      const { status } = await fresh.call(WIRE_METHODS[endpoint.operation], path, {}, token)
      assert.ok(status < 500, `${endpoint.id} ${status}`)
      assert.equal((await fresh.call('POST', 'auth/token/lookup', { token })).status, 403, endpoint.id)
    }
  }
  assert.equal((await stored()) - before, 0)
  const last = authOf(await fresh.call('POST', 'auth/token/create', { policies: ['all'], num_uses: 1 })).client_token
  assert.equal((await fresh.call('PUT', 'sys/seal', {}, last)).status, 204)
  await fresh.call('PUT', 'sys/unseal', { key: (fresh.shares[0] as Buffer).toString('base64') })
  assert.equal((await fresh.call('GET', 'sys/mounts', undefined, last)).status, 403)
})

test('T-22: no answer that was made for one token goes to another', async () => {
  await policy('reader', 'path "transit/keys/k" { capabilities = ["read"] }')
  const [may, mayNot] = [await make({ policies: ['reader'] }), await make({ policies: ['default'] })]
  for (let i = 0; i < 20; i++) {
    assert.equal((await server.call('GET', 'transit/keys/k', undefined, may.client_token)).status, 200)
    assert.equal((await server.call('GET', 'transit/keys/k', undefined, mayNot.client_token)).status, 403)
    const self = await server.call(
      'GET',
      'auth/token/lookup-self',
      undefined,
      i % 2 === 0 ? may.client_token : mayNot.client_token,
    )
    assert.equal(self.body.data?.accessor, i % 2 === 0 ? may.accessor : mayNot.accessor)
  }
})

test('A-07: a secret id is not reached by way of another role', async () => {
  for (const role of ['mine', 'theirs']) await server.call('POST', `auth/approle/role/${role}`, {})
  const made = (await server.call('POST', 'auth/approle/role/theirs/secret-id', {})).body.data ?? {}
  const { secret_id, secret_id_accessor } = made
  const way = (role: string, rest: string) => `auth/approle/role/${role}/${rest}`
  const lookup = (role: string) => server.call('POST', way(role, 'secret-id-accessor/lookup'), { secret_id_accessor })
  assert.equal((await lookup('mine')).status, 404)
  assert.equal((await server.call('POST', way('mine', 'secret-id/lookup'), { secret_id })).status, 204)
  await server.call('POST', way('mine', 'secret-id-accessor/destroy'), { secret_id_accessor })
  await server.call('POST', way('mine', 'secret-id/destroy'), { secret_id })
  assert.equal((await lookup('theirs')).status, 200)
})

test('I-06: who may remove one entity may not remove many at once, and of many all go or none', async () => {
  await policy('one', 'path "identity/entity/id/*" { capabilities = ["delete"] }')
  const { client_token } = await make({ policies: ['one'] })
  const id = (await server.call('POST', 'identity/entity', { name: 'kept' })).body.data?.id
  const batch = (token: string) => server.call('POST', 'identity/entity/batch-delete', { entity_ids: [id] }, token)
  assert.equal((await batch(client_token)).status, 403)
  assert.equal((await server.call('GET', `identity/entity/id/${id}`)).status, 200)
  assert.equal((await batch('root')).status, 204)
  assert.equal((await server.call('GET', `identity/entity/id/${id}`)).status, 404)
})

/** Constants, and names that the functions around them are given by their own file. */
const OF_THE_CODE = /^([A-Z_]+([.]\w+)?|table|column|where)$/

test('M-02: what is good for one use is used once, however it is spelled and however many try at once', async () => {
  await server.call('POST', 'auth/approle/role/once', {})
  const role_id = (await server.call('GET', 'auth/approle/role/once/role-id')).body.data?.role_id
  await server.call('POST', 'sys/auth/approle/tune', { user_lockout_config: { lockout_disable: true } })
  const newSecret = async () =>
    String((await server.call('POST', 'auth/approle/role/once/secret-id', { num_uses: 1 })).body.data?.secret_id)
  const logIn = async (secret_id: string) =>
    (await server.call('POST', 'auth/approle/login', { role_id, secret_id }, '')).status
  const atOnce = await newSecret()
  const statuses = await Promise.all(Array.from({ length: 50 }, () => logIn(atOnce)))
  assert.equal(statuses.filter((status) => status === 200).length, 1)
  const used = await newSecret()
  const spellings = (secret: string) => [
    ` ${secret}`,
    `${secret} `,
    secret.toUpperCase(),
    `${secret}\n`,
    `\u00a0${secret}`,
  ]
  for (const spelled of spellings(used)) assert.equal(await logIn(spelled), 400, JSON.stringify(spelled))
  assert.equal(await logIn(used), 200)
  for (const spelled of [used, ...spellings(used)]) assert.equal(await logIn(spelled), 400, JSON.stringify(spelled))
})

test('M-02, M-03: after a start the very first request meets what was forbidden before it', async () => {
  const first = await startMemoryServer()
  const create = async (fields: object) => authOf(await first.call('POST', 'auth/token/create', fields))
  const mfa = 'path "sys/mounts" { capabilities = ["read"] mfa_methods = ["totp"] }'
  await first.call('POST', 'sys/policies/acl/only-with-mfa', { policy: mfa })
  await first.call('POST', 'sys/policies/acl/reader', { policy: 'path "sys/mounts" { capabilities = ["read"] }' })
  await first.call('POST', 'sys/auth/people', { type: 'userpass' })
  await first.call('POST', 'sys/auth/people/tune', { user_lockout_config: { lockout_threshold: 1 } })
  await first.call('POST', 'auth/people/users/ann', { password: 'secret', token_policies: ['reader'] })
  const logIn = (at: MemoryServer, password: string) => at.call('POST', 'auth/people/login/ann', { password }, '')
  const disabled = await logIn(first, 'secret')
  const { entity_id: entity } = disabled.body.auth as { readonly entity_id: string }
  const [withMfa, revoked] = [await create({ policies: ['only-with-mfa'] }), await create({ policies: ['reader'] })]
  await first.call('POST', 'auth/token/revoke', { token: revoked.client_token })
  await first.call('POST', `identity/entity/id/${entity}`, { disabled: true })
  const restart = () => startMemoryServer({ store: first.store, key: first.shares[0] as Buffer })
  for (const { client_token } of [withMfa, revoked, authOf(disabled)])
    assert.equal((await (await restart()).call('GET', 'sys/mounts', undefined, client_token)).status, 403)
  const last = await restart()
  assert.equal((await logIn(last, 'no')).status, 400)
  assert.equal((await logIn(last, 'secret')).status, 403)
})

test('M-05: no statement of the store is put together from what comes from outside', () => {
  const folder = new URL('../../src/storage/', import.meta.url)
  const files = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  )
  const statements = files.flatMap((name) =>
    [...readFileSync(new URL(name, folder), 'utf8').matchAll(/\.(?:prepare|exec)\(\s*(['"`])([\s\S]*?)\1/g)].map(
      ([, , text = '']) => `${name}: ${text}`,
    ),
  )
  assert.ok(statements.length > 20)
  for (const statement of statements) {
    for (const [, inserted = ''] of statement.matchAll(/[$]{([^}]*)}/g))
      assert.ok(OF_THE_CODE.test(inserted), statement)
  }
})

test('M-06: where an empty list means everything, the field says so; a role without any bound is refused', async () => {
  const lists = PLACED_ENDPOINTS.flatMap(({ endpoint }) =>
    Object.entries(endpoint.fields).filter(([name]) => ['token_bound_cidrs', 'secret_id_bound_cidrs'].includes(name)),
  )
  const said = lists.filter(([, { description }]) => /empty: any/.test(description))
  assert.ok(said.length >= 4)
  const unbound = { bind_secret_id: false, token_bound_cidrs: [], secret_id_bound_cidrs: '' }
  assert.equal((await server.call('POST', 'auth/approle/role/unbound', unbound)).status, 400)
})

test('V-09: who asked the seal to change is in the log, with address and outcome, and without a share', async () => {
  const fresh = await startMemoryServer({ log: (_level, message, fields) => logged.push({ message, fields }) })
  logged.length = 0
  const key = (fresh.shares[0] as Buffer).toString('base64')
  await fresh.call('PUT', 'sys/seal', {}, '')
  await fresh.call('PUT', 'sys/seal')
  await fresh.call('PUT', 'sys/unseal', { key: 'AAAA' }, '')
  await fresh.call('PUT', 'sys/unseal', { key }, '')
  await fresh.call('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 }, '')
  const attempts = logged
    .filter(({ message }) => message === 'The seal was asked to change')
    .map(({ fields }) => fields)
  assert.deepEqual(
    attempts.map((one) => [one?.endpoint, one?.status]),
    [
      ['seal', 403],
      ['seal', 204],
      ['unseal', 400],
      ['unseal', 200],
      ['init', 400],
    ],
  )
  for (const one of attempts) assert.equal(one?.address, '127.0.0.1')
  assert.ok(!JSON.stringify(logged).includes(key))
})

test('V-10: a field that holds a secret is text by its schema, so that none goes anywhere as a number', () => {
  for (const { endpoint } of PLACED_ENDPOINTS) {
    for (const [name, { secret, kind }] of Object.entries(endpoint.fields)) {
      if (secret) assert.ok(!['int', 'bool', 'duration'].includes(kind), `${endpoint.id} ${name} ${kind}`)
    }
  }
})
