import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type Called, type MemoryServer, startMemoryServer } from '../../../test/fixtures/memory-server.ts'

let server: MemoryServer
let app: { readonly token: string; readonly accessor: string }
before(async () => {
  server = await startMemoryServer()
  await written('app', POLICY)
  app = await tokenWith(['app'])
})

const POLICY = `# of the application
path "transit/encrypt/app-*" {
  capabilities       = ["update"]
  allowed_parameters = { "plaintext" = [], "type" = ["aes256-gcm96", 9007199254740993] }
}
path "transit/keys/+/rotate" { capabilities = ["update"] }
path "transit/+/app*" { capabilities = ["read"] }
path "transit/keys" {
  capabilities = ["list"]
}
path "transit/keys/private" { capabilities = ["deny"] }
`

async function written(name: string, policy: string, more: object = {}): Promise<void> {
  assert.equal((await server.call('POST', `sys/policies/acl/${name}`, { policy, ...more })).status, 204)
}

async function tokenWith(policies: readonly string[]): Promise<{ readonly token: string; readonly accessor: string }> {
  const { body } = await server.call('POST', 'auth/token/create', { policies })
  const auth = body.auth as Readonly<Record<string, string>>
  return { token: String(auth.client_token), accessor: String(auth.accessor) }
}

const explain = (body: object, token = 'root', path = 'sys/policies/explain'): Promise<Called> =>
  server.call('POST', path, body, token)

const REQUEST = { path: 'transit/encrypt/app-1', operation: 'update', parameters: { plaintext: 'YQ==' } }
const DECIDED = {
  allowed: true,
  reason: 'granted',
  explanation: 'The rule grants it',
  path: 'transit/encrypt/app-1',
  operation: 'update',
  needed: ['update'],
  rule: { policy: 'app', path: 'transit/encrypt/app-*', line: 2 },
  considered: [
    { policy: 'app', path: 'transit/encrypt/app-*', line: 2, why: 'decides' },
    { policy: 'app', path: 'transit/+/app*', line: 7, why: 'is less specific than the rule that decides' },
  ],
  omitted: 0,
}

test('explain says the same of a token, of its accessor, of its policies, and to the token itself', async () => {
  assert.deepEqual((await explain({ token: app.token, ...REQUEST })).body.data, DECIDED)
  assert.deepEqual((await explain({ accessor: app.accessor, ...REQUEST })).body.data, DECIDED)
  assert.deepEqual((await explain({ policies: ['APP', 'default', 'none'], ...REQUEST })).body.data, DECIDED)
  assert.deepEqual((await explain(REQUEST, app.token, 'sys/policies/explain-self')).body.data, DECIDED)
  const { data } = (await explain(REQUEST)).body
  assert.deepEqual([data?.reason, data?.rule, data?.considered], ['root', null, []])
})

test('explain says what a refused request lacks, and agrees with the refusal', async () => {
  const about = async (method: string, path: string, operation: string, parameters?: object) => {
    const { status } = await server.call(method, path, parameters, app.token)
    const { data } = (await explain({ path, operation, parameters }, app.token, 'sys/policies/explain-self')).body
    assert.equal(data?.allowed, status !== 403, `${method} ${path}: ${status}`)
    return [data?.reason, (data?.rule as { line: number } | null)?.line]
  }
  assert.deepEqual(await about('POST', 'transit/encrypt/app-1', 'update', { context: 'x' }), [
    'parameter-not-allowed',
    2,
  ])
  assert.deepEqual(await about('GET', 'transit/keys/private', 'read'), ['denied-by-rule', 11])
  assert.deepEqual(await about('LIST', 'transit/keys', 'list'), ['granted', 8])
  assert.deepEqual(await about('DELETE', 'transit/keys/app', 'delete'), ['capability-missing', 7])
  assert.deepEqual(await about('GET', 'sys/mounts', 'read'), ['no-rule', undefined])
})

test('explain knows which paths need sudo, and what a wrapped request would get', async () => {
  await written(
    'wrapped',
    'path "sys/rotate" { capabilities = ["update"] }\npath "a" { policy = "read" max_wrapping_ttl = "1m" }',
  )
  const of = async (body: object) => (await explain({ policies: ['wrapped'], ...body })).body.data
  const rotate = await of({ path: '/sys/rotate', operation: 'update' })
  assert.deepEqual([rotate?.reason, rotate?.needed], ['sudo-missing', ['sudo', 'update']])
  assert.equal((await of({ path: 'a', operation: 'read' }))?.reason, 'wrapping-required')
  assert.equal((await of({ path: 'a', operation: 'read', wrap_ttl: '2m' }))?.reason, 'wrapping-ttl-too-long')
  assert.equal((await of({ path: 'a', operation: 'read', wrap_ttl: '60' }))?.reason, 'granted')
})

test('explain about others needs a policy that grants it; about oneself the default policy does', async () => {
  const { token } = await tokenWith(['default'])
  for (const other of [{ token: app.token }, { accessor: app.accessor }, { policies: ['app'] }, {}]) {
    assert.equal((await explain({ ...other, ...REQUEST }, token)).status, 403)
  }
  // explain-self ignores these fields: it explains requests of the calling token only.
  const own = await explain({ token: app.token, policies: ['app'], ...REQUEST }, token, 'sys/policies/explain-self')
  assert.equal(own.body.data?.reason, 'no-rule')
})

test('explain refuses what makes no sense, by name', async () => {
  const cases: readonly [object, RegExp][] = [
    [{ operation: 'read' }, /path/],
    [{ path: 'a' }, /operation/],
    [{ path: 'a', operation: 'sudo' }, /operation/],
    [{ path: 'a/../b', operation: 'read' }, /path/],
    [{ path: 'a//b', operation: 'read' }, /path/],
    [{ path: '', operation: 'read' }, /path/],
    [{ path: 'a', operation: 'read', parameters: [1] }, /parameters/],
    [{ path: 'a', operation: 'read', token: 'x', policies: ['app'] }, /only one/],
    [{ path: 'a', operation: 'read', token: 'x' }, /invalid token/],
    [{ path: 'a', operation: 'read', accessor: 'x' }, /invalid accessor/],
    [{ path: 'a', operation: 'read', policies: ['\u212Aelvin'] }, /policies/],
  ]
  for (const [body, wanted] of cases) {
    const answer = await explain(body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(JSON.stringify(answer.body.errors), wanted)
  }
})

test('capabilities are told by accessor as by token', async () => {
  const paths = ['transit/encrypt/app-1', 'transit/keys', 'transit/keys/private', 'nowhere']
  const byToken = await server.call('POST', 'sys/capabilities', { token: app.token, paths })
  const byAccessor = await server.call('POST', 'sys/capabilities-accessor', { accessor: app.accessor, paths })
  assert.deepEqual(byAccessor.body.data, byToken.body.data)
  assert.deepEqual(byAccessor.body['transit/keys'], ['list'], 'at the top level too')
  const unknown = await server.call('POST', 'sys/capabilities-accessor', { accessor: 'none', paths })
  assert.equal(unknown.status, 400)
})

test('resultant-acl shows what all policies grant together', async () => {
  const { data } = (await server.call('GET', 'sys/internal/ui/resultant-acl', undefined, app.token)).body
  const exact = data?.exact_paths as Readonly<Record<string, object>>
  const globs = data?.glob_paths as Readonly<Record<string, object>>
  assert.deepEqual([data?.root, data?.chroot_namespace], [false, ''])
  assert.deepEqual(exact['auth/token/lookup-self'], { capabilities: ['read'] })
  assert.deepEqual(exact['transit/keys/private'], { capabilities: ['deny'] })
  assert.deepEqual(exact['transit/keys/+/rotate'], { capabilities: ['update'] })
  assert.deepEqual(globs['transit/+/app'], { capabilities: ['read'] })
  assert.deepEqual(globs['transit/encrypt/app-'], {
    capabilities: ['update'],
    allowed_parameters: { plaintext: [], type: ['aes256-gcm96', 9007199254740992] },
  })
  const root = (await server.call('GET', 'sys/internal/ui/resultant-acl')).body.data
  assert.deepEqual(root, { root: true, exact_paths: {}, glob_paths: {}, chroot_namespace: '' })
})

test('a policy has a version, and is replaced by those who have read it', async () => {
  const read = async () => (await server.call('GET', 'sys/policies/acl/cas')).body.data
  await written('cas', POLICY, { cas: -1 })
  assert.deepEqual(await read(), {
    name: 'cas',
    policy: POLICY,
    version: 1,
    modified: '2026-01-01T00:00:00.000Z',
    cas_required: false,
  })
  assert.equal((await server.call('POST', 'sys/policies/acl/cas', { policy: POLICY, cas: -1 })).status, 400)
  await written('cas', POLICY, { cas: 1, cas_required: true })
  const blind = await server.call('POST', 'sys/policies/acl/cas', { policy: POLICY })
  assert.match(JSON.stringify(blind.body.errors), /\\"cas\\".*must be given/)
  assert.equal((await server.call('POST', 'sys/policy/cas', { policy: POLICY })).status, 400)
  assert.equal((await read())?.version, 2)
})

test('a policy ends when it was said to: told by read and explain, granting nothing, and then removed', async () => {
  const policy = 'path "sys/mounts" { capabilities = ["read"] }'
  const { token } = await tokenWith(['ending'])
  const isAllowed = async () => (await server.call('GET', 'sys/mounts', undefined, token)).status === 200
  const read = () => server.call('GET', 'sys/policies/acl/ending')
  await written('ending', policy, { ttl: '1h' })
  const { modified, expiration } = (await read()).body.data as Readonly<Record<string, string>>
  assert.equal(Date.parse(String(expiration)) - Date.parse(String(modified)), 3_600_000)
  assert.equal(await isAllowed(), true)
  server.advance(3_600)
  assert.equal(await isAllowed(), false)
  assert.equal((await read()).status, 404)
  const why = await explain({ token, path: 'sys/mounts', operation: 'read' })
  assert.match(JSON.stringify(why.body.data?.considered), /belongs to a policy that has expired/)
  await server.node.policySweep.runNow()
  const names = (await server.call('LIST', 'sys/policies/acl')).body.data?.keys as string[]
  assert.ok(names.includes('app') && !names.includes('ending'))
})

test('each write says when the policy ends; one that says nothing takes the end away, with a warning', async () => {
  const write = (more: object, path = 'sys/policies/acl/ended') =>
    server.call('POST', path, { policy: 'path "a" { capabilities = ["read"] }', ...more })
  const expiration = async () => (await server.call('GET', 'sys/policies/acl/ended')).body.data?.expiration
  for (const more of [{ expiration: '2040-01-31T12:00:00+02:00' }, { expiration: Date.UTC(2040, 0, 31, 10) / 1000 }]) {
    assert.equal((await write(more)).status, 204)
    assert.equal(await expiration(), '2040-01-31T10:00:00.000Z')
  }
  const plain = await write({})
  assert.match(JSON.stringify(plain.body.warnings), /has none any more/)
  assert.equal(await expiration(), undefined)
  assert.equal((await write({ ttl: '1h' }, 'sys/policy/ended')).status, 204)
  assert.notEqual(await expiration(), undefined)
})

test('an end that cannot be is refused by name', async () => {
  for (const [name, more, wanted] of [
    ['x', { ttl: '1h', expiration: '2040-01-31T12:00:00Z' }, /ttl.*either/],
    ['x', { expiration: '2020-01-31T12:00:00Z' }, /expiration.*future/],
    ['x', { expiration: '999999999999' }, /expiration.*9999/],
    ['x', { expiration: 'tomorrow' }, /expiration.*must be a time/],
    ['x', { ttl: '-1h' }, /ttl/],
    ['default', { ttl: '1h' }, /ttl.*always exists/],
  ] as const) {
    const { status, body } = await server.call('POST', `sys/policies/acl/${name}`, { policy: POLICY, ...more })
    assert.equal(status, 400)
    assert.match(JSON.stringify(body.errors), wanted)
  }
})

test('a name that is trimmed to what cannot be stored is refused by name', async () => {
  const names = ['%20.', '%20..', '.%20', 'a/%20', '%20/a', 'a/.%20', 'a/..%20']
  const paths = ['%20.', ...names].map((name, i) => `sys/${i === 0 ? 'policy' : 'policies/acl'}/${name}`)
  for (const path of paths) {
    for (const [method, sent] of [['POST', { policy: 'path "a" {}' }], ['DELETE'], ['GET']] as const) {
      const { status, body } = await server.call(method, path, sent)
      assert.deepEqual([status, /field "name"/.test(String(body.errors))], [400, true], `${method} ${path}`)
    }
  }
  assert.equal((await server.call('POST', 'sys/policies/acl/%20a/b%20', { policy: 'path "a" {}' })).status, 200)
})
