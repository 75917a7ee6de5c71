// A parameter that goes by several names: what a policy says of one of them holds for all.
import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { checkParameters, type ParameterLists } from '../../src/auth/parameter-rules.ts'
import type { ParameterValue } from '../../src/auth/parameter-values.ts'
import { PLACED_ENDPOINTS } from '../fixtures/endpoint-table.ts'
import { type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
  await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await server.call('POST', 'transit/keys/k', { type: 'rsa-2048' })
})

async function tokenWith(policy: string): Promise<string> {
  assert.equal((await server.call('POST', 'sys/policies/acl/tested', { policy })).status, 204)
  const { body } = await server.call('POST', 'auth/token/create', { policies: ['tested'], no_default_policy: true })
  return String((body.auth as { readonly client_token: string }).client_token)
}

const statusesOf = (token: string, path: string, bodies: readonly object[]): Promise<number[]> =>
  Promise.all(bodies.map(async (body) => (await server.call('POST', path, body, token)).status))

test('a denial of a parameter holds for its older name', async () => {
  const rule = (parameters: string) => `path "auth/token/create" { capabilities = ["update"] ${parameters} }`
  const denied = await tokenWith(rule('denied_parameters = { "ttl" = [] }'))
  const bodies = [{ ttl: '1h' }, { lease: '1h' }, { lease: '1h', ttl: null }, { Lease: '1h' }, {}]
  assert.deepEqual(await statusesOf(denied, 'auth/token/create', bodies), [403, 403, 403, 403, 200])
  const byOldName = await tokenWith(rule('denied_parameters = { "lease" = ["2h"] }'))
  const values = [{ ttl: '2h' }, { lease: '2h' }, { ttl: '1h' }, { lease: '1h' }]
  assert.deepEqual(await statusesOf(byOldName, 'auth/token/create', values), [403, 403, 200, 200])
})

test('what is allowed by one name is allowed by the other, with the same values', async () => {
  const token = await tokenWith(
    'path "auth/token/create" { capabilities = ["update"] allowed_parameters = { "ttl" = ["1h"], "*" = [] } }',
  )
  const bodies = [{ ttl: '1h' }, { lease: '1h' }, { ttl: '2h' }, { lease: '2h' }, { ttl: '1h', lease: '2h' }]
  assert.deepEqual(await statusesOf(token, 'auth/token/create', bodies), [200, 200, 403, 403, 403])
  // Of clients that send every field.
  assert.deepEqual(await statusesOf(token, 'auth/token/create', [{ ttl: '1h', lease: null }]), [200])
})

test('a name with values of its own has these alone', async () => {
  const allowed = '"input" = [], "hash_algorithm" = ["sha2-256"], "algorithm" = []'
  const token = await tokenWith(
    `path "transit/sign/k" { capabilities = ["update"] allowed_parameters = { ${allowed} } }`,
  )
  const signed = (options: object) => ({ input: 'YQ==', ...options })
  const bodies = [
    signed({ hash_algorithm: 'sha2-256' }),
    signed({ hash_algorithm: 'sha1' }),
    signed({ hash_algorithm: '', algorithm: 'sha1' }),
  ]
  assert.deepEqual(await statusesOf(token, 'transit/sign/k', bodies), [200, 403, 403])
})

test('a hash that is forbidden for signatures is forbidden by the older name of the parameter', async () => {
  const token = await tokenWith(
    'path "transit/sign/k" { capabilities = ["update"] denied_parameters = { "hash_algorithm" = ["sha1"] } }',
  )
  const signed = (options: object) => ({ input: 'YQ==', ...options })
  const bodies = [
    signed({ hash_algorithm: 'sha1' }),
    signed({ hash_algorithm: '', algorithm: 'sha1' }),
    signed({ hash_algorithm: 'sha2-256', algorithm: 'sha1' }),
    signed({ hash_algorithm: '', algorithm: 'sha2-512' }),
  ]
  assert.deepEqual(await statusesOf(token, 'transit/sign/k', bodies), [403, 403, 403, 200])
})

test('explain says what is judged', async () => {
  const token = await tokenWith(
    'path "auth/token/create" { capabilities = ["update"] denied_parameters = { "ttl" = [] } }',
  )
  const asked = { token, path: 'auth/token/create', operation: 'update', parameters: { lease: '1h' } }
  const { body } = await server.call('POST', 'sys/policies/explain', asked)
  assert.deepEqual([body.data?.allowed, body.data?.reason], [false, 'parameter-denied'])
})

test('every field that is told of as an older name says of which', () => {
  let aliases = 0
  for (const { endpoint } of PLACED_ENDPOINTS) {
    for (const [name, { description, aliasOf }] of Object.entries(endpoint.fields)) {
      const isToldOf = /^Deprecated: use /.test(description)
      assert.equal(isToldOf, aliasOf !== undefined, `${endpoint.id}: ${name}`)
      if (aliasOf === undefined) continue
      aliases++
      assert.ok(endpoint.otherNames?.get(aliasOf)?.includes(name), `${endpoint.id}: ${name}`)
      assert.ok(endpoint.otherNames?.get(name)?.includes(aliasOf), `${endpoint.id}: ${name}`)
    }
  }
  assert.ok(aliases > 20, `${aliases}`)
})

test('of three names each counts for the others; a required one is met by itself alone', () => {
  const names = ['new', 'old', 'older']
  const otherNames = new Map(names.map((name) => [name, names.filter((other) => other !== name)]))
  const lists = (values: Record<string, ParameterValue[]>): ParameterLists => new Map(Object.entries(values))
  const check = (rules: object, parameters: Record<string, unknown>) =>
    checkParameters({ allowed: lists({}), denied: lists({}), required: [], ...rules }, parameters, {
      fields: {},
      otherNames,
    })
  for (const name of names) {
    for (const sent of names) {
      assert.equal(check({ denied: lists({ [name]: ['x'] }) }, { [sent]: 'x' }), 'parameter-denied', `${name} ${sent}`)
      assert.equal(check({ denied: lists({ [name]: ['x'] }) }, { [sent]: 'y' }), undefined)
      assert.equal(check({ allowed: lists({ [name]: ['x'] }) }, { [sent]: 'x' }), undefined)
      assert.equal(check({ allowed: lists({ [name]: ['x'] }) }, { [sent]: 'y' }), 'parameter-not-allowed')
      const required = check({ required: [name] }, { [sent]: 'x' })
      assert.equal(required, name === sent ? undefined : 'parameter-required')
    }
  }
  const either = { allowed: lists({ new: ['x'], old: ['y'] }) }
  assert.deepEqual(
    ['x', 'y', 'z'].map((value) => check(either, { older: value })),
    [undefined, undefined, 'parameter-not-allowed'],
  )
})

test('every field that is the old name of another is judged with it, and read back as said', () => {
  const wrong = PLACED_ENDPOINTS.flatMap(({ endpoint: { id, fields } }) =>
    Object.entries(fields)
      .filter(([, { description, aliasOf }]) => (/^Old name of (\w+)/.exec(description)?.[1] ?? aliasOf) !== aliasOf)
      .map(([name]) => `${id}: ${name}`),
  )
  assert.deepEqual(wrong, [])
})
