// The endpoints about the server itself, in one process on storage in memory.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { ACTIVE_PRIMARY, FOLLOWS_NONE, type NodeRole } from '../../api/node-role.ts'
import { VERSION } from '../../version.ts'

const errorOf = (body: Record<string, unknown>): string => String((body.errors as string[])[0])

test('tools: random bytes by path and by body, in both forms', async () => {
  const { call } = await startMemoryServer()
  const bytesOf = async (path: string, body: object, form: 'hex' | 'base64'): Promise<number> => {
    const { status, body: answer } = await call('POST', `sys/tools/random${path}`, body)
    assert.equal(status, 200, JSON.stringify(answer))
    return Buffer.from(String(answer.data?.random_bytes), form).length
  }
  assert.equal(await bytesOf('', {}, 'base64'), 32)
  assert.equal(await bytesOf('/7', {}, 'base64'), 7)
  assert.equal(await bytesOf('/platform', { bytes: '9', format: 'hex' }, 'hex'), 9)
  assert.equal(await bytesOf('/all/131072', { bytes: 5 }, 'base64'), 131_072)
  const [first, second] = await Promise.all([call('POST', 'sys/tools/random'), call('POST', 'sys/tools/random')])
  assert.notEqual(first.body.data?.random_bytes, second.body.data?.random_bytes)
})

test('C4: tools: an empty source, and null, is the usual one', async () => {
  const { call } = await startMemoryServer()
  for (const source of ['', null]) {
    const { status, body } = await call('POST', 'sys/tools/random', { source, bytes: 5 })
    assert.deepEqual([status, body.warnings], [200, null])
    assert.equal(Buffer.from(String(body.data?.random_bytes), 'base64').length, 5)
  }
})

test('tools: a seal is no source here, and a warning says so', async () => {
  const { call } = await startMemoryServer()
  const { status, body } = await call('POST', 'sys/tools/random/seal/8')
  assert.equal(status, 200)
  assert.deepEqual(body.warnings, ['no seal/entropy augmentation available, using platform entropy source'])
  assert.equal((await call('POST', 'sys/tools/random/all/8')).body.warnings, null)
})

const BAD_RANDOM = ['/0', '/131073', '/x', '/-1', '/nowhere/4', '/platform/0', '/1e3', '/9999999999', '/platform/8/x']
for (const path of BAD_RANDOM) {
  test(`tools: random${path} is refused`, async () => {
    const { call } = await startMemoryServer()
    const { status, body } = await call('POST', `sys/tools/random${path}`)
    assert.equal(status, 400)
    assert.match(String(body.errors), /"(?:bytes|source)"/)
  })
}

test('tools: the algorithm in the path wins; SHA-1 and unknown ones are refused', async () => {
  const { call } = await startMemoryServer()
  const input = Buffer.from('abc').toString('base64')
  const { body } = await call('POST', 'sys/tools/hash/sha2-256', { input, algorithm: 'sha2-512', format: 'base64' })
  assert.equal(body.data?.sum, 'ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=')
  for (const algorithm of ['sha1', 'md5', 'none', '']) {
    const refused = await call('POST', 'sys/tools/hash', { input, algorithm })
    assert.equal(refused.status, 400, algorithm)
    assert.match(errorOf(refused.body), /field "algorithm": must be one of sha2-224/)
  }
  assert.equal((await call('POST', 'sys/tools/hash', {})).status, 400)
})

test('edition: community switches entropy of the seal off, and license/status tells what is on', async () => {
  const { call } = await startMemoryServer({ facts: { edition: 'community' } })
  const refused = await call('POST', 'sys/tools/random/seal/8')
  assert.equal(refused.status, 400)
  assert.match(errorOf(refused.body), /Entropy Augmentation is not licensed: the edition of this server is "community"/)
  assert.equal((await call('POST', 'sys/tools/random/platform/8')).status, 200)
  const { autoloaded } = (await call('GET', 'sys/license/status')).body.data as { autoloaded: Record<string, unknown> }
  assert.deepEqual(autoloaded.features, ['Namespaces', 'Performance Standby', 'Seal Wrapping'])
  assert.deepEqual((await call('GET', 'sys/license')).body.data?.features, autoloaded.features)
  assert.equal((await call('GET', 'sys/health')).body.enterprise, false)
})

test('edition: everything is on where nothing is said', async () => {
  const { call } = await startMemoryServer()
  const { features } = (await call('GET', 'sys/license')).body.data as { features: string[] }
  assert.equal(features.length, 7)
  assert.equal((await call('GET', 'sys/health')).body.enterprise, true)
})

test('password policies: written, listed, read as they were written, kept by what they make, removed', async () => {
  const { call } = await startMemoryServer()
  const policy =
    'length = 12\nrule "charset" {\n  charset = "abc"\n}\nrule "charset" {\n  charset = "0"\n  min-chars = 11\n}'
  assert.equal((await call('LIST', 'sys/policies/password')).status, 404)
  const base64 = Buffer.from(policy).toString('base64')
  assert.equal((await call('PUT', 'sys/policies/password/short', { policy: base64 })).status, 204)
  assert.equal((await call('GET', 'sys/policies/password/short')).body.data?.policy, policy)
  assert.deepEqual((await call('LIST', 'sys/policies/password')).body.data?.keys, ['short'])
  for (let turn = 0; turn < 20; turn++) {
    const password = String((await call('GET', 'sys/policies/password/short/generate')).body.data?.password)
    assert.match(password, /^[abc0]{12}$/)
    assert.ok(password.split('0').length - 1 >= 11, password)
  }
  assert.equal((await call('DELETE', 'sys/policies/password/short')).status, 204)
  assert.equal((await call('GET', 'sys/policies/password/short/generate')).status, 404)
  const refused = await call('PUT', 'sys/policies/password/short', { policy: 'length = 2' })
  assert.equal(refused.status, 400)
  assert.match(errorOf(refused.body), /length must be a number from 4 to 100/)
  for (const bad of ['', '//8='])
    assert.equal((await call('PUT', 'sys/policies/password/x', { policy: bad })).status, 400)
})

test('counters: tokens and entities as they come and go', async () => {
  const { call } = await startMemoryServer()
  const tokens = async (): Promise<number> => {
    const { counters } = (await call('GET', 'sys/internal/counters/tokens')).body.data as {
      counters: { service_tokens: { total: number } }
    }
    return counters.service_tokens.total
  }
  const entities = async (): Promise<number> => {
    const { counters } = (await call('GET', 'sys/internal/counters/entities')).body.data as {
      counters: { entities: { total: number } }
    }
    return counters.entities.total
  }
  assert.equal(await tokens(), 1)
  const { auth } = (await call('POST', 'auth/token/create', {})).body as { auth: { client_token: string } }
  assert.equal(await tokens(), 2)
  // Batch tokens are not stored.
  assert.equal((await call('POST', 'auth/token/create', { type: 'batch', policies: ['default'] })).status, 200)
  assert.equal(await tokens(), 2)
  await call('POST', 'auth/token/revoke', { token: auth.client_token })
  assert.equal(await tokens(), 1)
  assert.equal(await entities(), 0)
  await call('POST', 'identity/entity', { name: 'kim' })
  assert.equal(await entities(), 1)
})

test('version history: this version is noted once, at the first opening', async () => {
  const first = await startMemoryServer()
  const read = async ({ call }: typeof first) => (await call('LIST', 'sys/version-history')).body.data
  const noted = await read(first)
  assert.deepEqual(noted, {
    keys: [VERSION],
    key_info: {
      [VERSION]: { previous_version: null, timestamp_installed: '2026-01-01T00:00:00.000Z', build_date: '' },
    },
  })
  first.advance(60)
  await first.call('POST', 'sys/seal')
  await first.node.operations.unseal(first.shares[0] as Buffer)
  assert.deepEqual(await read(first), noted)
  // A later version of the program opens the store.
  await first.node.services.versions.note('9.0.0')
  const after = (await read(first)) as { keys: string[]; key_info: Record<string, { previous_version: string }> }
  assert.deepEqual(after.keys, [VERSION, '9.0.0'])
  assert.equal(after.key_info['9.0.0']?.previous_version, VERSION)
})

test('X-01: plugins: the catalogue is what can be mounted, and nothing can be added', async () => {
  const { call } = await startMemoryServer()
  const { auth, secret, database, detailed } = (await call('GET', 'sys/plugins/catalog')).body.data as Record<
    string,
    unknown[]
  >
  assert.deepEqual([auth, secret, database], [['approle', 'azure', 'cloud', 'userpass'], ['transit'], []])
  assert.equal(detailed?.length, 5)
  assert.deepEqual((await call('LIST', 'sys/plugins/catalog/secret')).body.data?.keys, ['transit'])
  assert.equal((await call('LIST', 'sys/plugins/catalog/database')).status, 404)
  assert.equal((await call('LIST', 'sys/plugins/catalog/other')).status, 400)
  assert.equal((await call('GET', 'sys/plugins/catalog/auth/userpass')).body.data?.builtin, true)
  assert.equal((await call('GET', 'sys/plugins/catalog/auth/transit')).status, 404)
  assert.equal((await call('POST', 'sys/plugins/catalog/auth/mine', { command: 'x' })).status, 405)
})

test('E-15: plugins: a reload is named, global ones with 202, and what it does not know is refused', async () => {
  const { call } = await startMemoryServer()
  await call('POST', 'sys/mounts/transit', { type: 'transit' })
  await call('POST', 'sys/auth/people', { type: 'userpass' })
  for (const mounts of [['transit'], 'transit/', ['auth/people'], ['sys/auth/people']]) {
    const { status, body } = await call('POST', 'sys/plugins/reload/backend', { mounts })
    assert.equal(status, 200, JSON.stringify(body))
    const id = String(body.data?.reload_id)
    const done = await call('GET', `sys/plugins/reload/backend/status?reload_id=${id}`)
    const results = Object.values((done.body.data?.results ?? {}) as Record<string, { success: boolean }>)
    assert.deepEqual([results.length, results[0]?.success], [1, true])
  }
  assert.equal((await call('PUT', 'sys/plugins/reload/backend', { plugin: 'transit', scope: 'global' })).status, 202)
  const one = await call('PUT', 'sys/plugins/reload/secret/transit', {})
  assert.equal(one.status, 200)
  const id = String(one.body.data?.reload_id)
  assert.equal((await call('GET', `sys/plugins/reload/backend/status?reload_id=${id}`)).status, 200)
  assert.equal((await call('PUT', 'sys/plugins/reload/auth/userpass', { scope: 'global' })).status, 202)
  assert.equal((await call('PUT', 'sys/plugins/reload/auth/transit', {})).status, 404)
  assert.equal((await call('PUT', 'sys/plugins/reload/other/transit', {})).status, 400)
  const refusals = [
    { body: {}, says: /plugin or mounts must be provided/ },
    { body: { plugin: 'transit', mounts: ['transit'] }, says: /cannot be set at the same time/ },
    { body: { plugin: 'no-such' }, says: /field "plugin": must be one of transit/ },
    { body: { mounts: ['no-such'] }, says: /field "mounts"/ },
    { body: { mounts: ['sys'] }, says: /part of the server/ },
    { body: { plugin: 'transit', scope: 'galaxy' }, says: /field "scope"/ },
  ]
  for (const { body, says } of refusals) {
    const refused = await call('POST', 'sys/plugins/reload/backend', body)
    assert.equal(refused.status, 400)
    assert.match(errorOf(refused.body), says)
  }
  assert.equal((await call('GET', 'sys/plugins/reload/backend/status?reload_id=none')).status, 404)
})

test('inspect: the router by path, uuid, accessor and storage', async () => {
  const { call } = await startMemoryServer()
  await call('POST', 'sys/mounts/transit', { type: 'transit' })
  const byTag = async (tag: string) => (await call('GET', `sys/internal/inspect/router/${tag}`)).body.data ?? {}
  const root = (await byTag('root')) as Record<string, Record<string, string>>
  const { uuid = '', accessor = '', storage_prefix: prefix = '' } = root['transit/'] ?? {}
  assert.equal(prefix, `root/logical/${uuid}/`)
  assert.deepEqual((await byTag('uuid'))[uuid], root['transit/'])
  assert.deepEqual((await byTag('accessor'))[accessor], root['transit/'])
  assert.deepEqual((await byTag('storage'))[prefix], root['transit/'])
  assert.equal((await call('GET', 'sys/internal/inspect/router/other')).status, 400)
})

test('one node: its status, and nobody to step down for', async () => {
  const { call } = await startMemoryServer({ facts: { apiAddress: 'https://here:8200' } })
  const { nodes } = (await call('GET', 'sys/ha-status')).body as unknown as { nodes: Record<string, unknown>[] }
  assert.deepEqual([nodes.length, nodes[0]?.active_node, nodes[0]?.api_address], [1, true, 'https://here:8200'])
  assert.equal((await call('PUT', 'sys/step-down')).status, 400)
})

test('config/reload runs what the server gave it, and names what there is', async () => {
  const { call } = await startMemoryServer()
  const none = await call('POST', 'sys/config/reload/tls')
  assert.equal(none.status, 400)
  assert.match(errorOf(none.body), /this server has none/)
  let runs = 0
  const tls = async (): Promise<boolean> => {
    runs++
    return runs === 1
  }
  const some = await startMemoryServer({ configReloads: new Map([['tls', tls]]) })
  assert.equal((await some.call('POST', 'sys/config/reload/tls')).status, 204)
  assert.equal(runs, 1)
  const kept = await some.call('POST', 'sys/config/reload/tls')
  assert.equal(kept.status, 400)
  assert.match(errorOf(kept.body), /was not read anew everywhere/)
  assert.match(errorOf((await some.call('POST', 'sys/config/reload/other')).body), /offered are tls/)
})

test('headers for user interfaces are on answers outside the API, and on no other', async () => {
  const { call, node } = await startMemoryServer()
  const at = async (rawPath: string) => {
    const headers = { token: undefined, namespace: undefined, wrapTtl: undefined, contentType: undefined }
    const request = { method: 'GET', rawPath, query: '', headers, body: undefined, remoteAddress: '127.0.0.1' }
    return (await node.core.handle(request)).headers
  }
  assert.equal((await call('LIST', 'sys/config/ui/headers')).status, 404)
  const values = ['DENY', 'SAMEORIGIN']
  assert.equal((await call('PUT', 'sys/config/ui/headers/x-FRAME-options', { values })).status, 204)
  assert.deepEqual((await call('LIST', 'sys/config/ui/headers')).body.data?.keys, ['X-Frame-Options'])
  const path = 'sys/config/ui/headers/X-Frame-Options'
  assert.deepEqual((await call('GET', path)).body.data, { value: 'DENY' })
  assert.deepEqual((await call('GET', `${path}?multivalue=true`)).body.data, { values })
  assert.deepEqual(await at('/ui/'), { 'X-Frame-Options': 'DENY, SAMEORIGIN' })
  assert.equal(await at('/v1/sys/health'), undefined)
  assert.equal((await call('DELETE', path)).status, 204)
  assert.equal((await call('GET', path)).status, 404)
  assert.deepEqual(await at('/ui/'), {})
  const plain = 'sys/config/ui/headers/x-content-type-options'
  assert.equal((await call('PUT', plain, { values: ['sniff'] })).status, 400)
  assert.equal((await call('PUT', plain, { values: ['nosniff'] })).status, 204)
  for (const name of ['X-Vault-Token', 'content-length', 'Cache-Control'])
    assert.equal((await call('PUT', `sys/config/ui/headers/${name}`, { values: ['x'] })).status, 400, name)
  for (const bad of [[], [''], ['a\r\nSet-Cookie: b'], ['ä'], Array(3).fill('x'.repeat(4_000))])
    assert.equal((await call('PUT', path, { values: bad })).status, 400, JSON.stringify(bad))
})

test('what user interfaces ask', async () => {
  const { call } = await startMemoryServer()
  assert.deepEqual((await call('GET', 'sys/internal/ui/namespaces')).body.data, {})
  assert.equal((await call('GET', 'sys/internal/ui/namespaces', undefined, '')).status, 403)
  assert.deepEqual((await call('GET', 'sys/internal/ui/version')).body.data, { version: '1.21.0' })
})

test('a mount that is listed to everybody tells strangers how it is used, and no more', async () => {
  const { call } = await startMemoryServer()
  const config = { listing_visibility: 'unauth' }
  await call('POST', 'sys/mounts/open', { type: 'transit', description: 'of all', config })
  await call('POST', 'sys/auth/people', { type: 'userpass', options: { a: 'b' }, config })
  await call('POST', 'sys/policies/acl/elsewhere', { policy: 'path "other/*" { capabilities = ["read"] }' })
  const { body } = await call('POST', 'auth/token/create', { policies: ['elsewhere'], no_default_policy: true })
  const stranger = (body.auth as { readonly client_token: string }).client_token
  const open = { type: 'transit', description: 'of all', options: {} }
  const people = { type: 'userpass', description: '', options: { a: 'b' } }
  const listed = async (token?: string) => (await call('GET', 'sys/internal/ui/mounts', undefined, token)).body.data
  for (const token of ['', 'no such token', stranger])
    assert.deepEqual(await listed(token), { secret: { 'open/': open }, auth: { 'people/': people } }, token)
  const { secret } = (await listed()) as { readonly secret: Readonly<Record<string, object>> }
  assert.deepEqual(secret['open/'], (await call('GET', 'sys/mounts/open')).body.data)
})

const HEALTH_CODES = [
  { query: 'activecode=299', state: 'active', status: 299 },
  { query: 'standbyok=true&perfstandbyok=1', state: 'active', status: 200 },
  {
    query: 'standbycode=299&drsecondarycode=299&performancestandbycode=299&removedcode=299&haunhealthycode=299',
    state: 'active',
    status: 200,
  },
  { query: 'sealedcode=299&uninitcode=298', state: 'sealed', status: 299 },
  { query: 'sealedcode=299&uninitcode=298', state: 'new', status: 298 },
  { query: '', state: 'sealed', status: 503 },
  { query: '', state: 'new', status: 501 },
]
for (const { query, state, status } of HEALTH_CODES) {
  test(`health: ${state}, asked with "${query}", answers ${status}`, async () => {
    const { call } = await startMemoryServer({ shares: state === 'new' ? 0 : 1, threshold: state === 'new' ? 0 : 1 })
    if (state === 'sealed') await call('POST', 'sys/seal')
    for (const method of ['GET', 'HEAD']) {
      const answer = await call(method, `sys/health?${query}`, undefined, '')
      assert.deepEqual([answer.status, answer.body.sealed], [status, state !== 'active'], method)
    }
  })
}

const ROLES_SHOWN: readonly {
  readonly role: Partial<NodeRole>
  readonly query?: string
  readonly shows: readonly [status: number, dr: string, performance: string, standby: boolean]
}[] = [
  { role: { dr: 'primary', performance: 'primary' }, shows: [200, 'primary', 'primary', false] },
  { role: { performance: 'secondary' }, shows: [200, 'disabled', 'secondary', false] },
  { role: { performance: 'bootstrapping' }, shows: [473, 'disabled', 'bootstrapping', false] },
  { role: { dr: 'secondary' }, shows: [472, 'secondary', 'disabled', false] },
  { role: { dr: 'secondary', performance: 'primary' }, shows: [472, 'secondary', 'disabled', false] },
  { role: { dr: 'bootstrapping' }, shows: [472, 'bootstrapping', 'disabled', false] },
  { role: { dr: 'secondary', isStandby: true }, shows: [472, 'secondary', 'disabled', true] },
  { role: { dr: 'secondary' }, query: '?drsecondarycode=299', shows: [299, 'secondary', 'disabled', false] },
  { role: { isStandby: true }, shows: [473, 'disabled', 'disabled', true] },
  { role: { isStandby: true }, query: '?performancestandbycode=298', shows: [298, 'disabled', 'disabled', true] },
  { role: { isStandby: true }, query: '?perfstandbyok=true', shows: [200, 'disabled', 'disabled', true] },
  { role: { isStandby: true }, query: '?standbyok=true', shows: [473, 'disabled', 'disabled', true] },
  { role: { isFenced: true, dr: 'primary' }, shows: [473, 'primary', 'disabled', false] },
]
for (const { role, query = '', shows } of ROLES_SHOWN) {
  test(`health and leader show the role ${JSON.stringify(role)}${query}`, async () => {
    const { node, call } = await startMemoryServer()
    await node.changeRole({ ...FOLLOWS_NONE, role: { ...ACTIVE_PRIMARY, ...role } })
    const { status, body } = await call('GET', `sys/health${query}`, undefined, '')
    const { replication_dr_mode: dr, replication_performance_mode: performance, performance_standby: standby } = body
    assert.deepEqual([status, dr, performance, standby], shows)
    assert.equal(body.standby, standby)
    assert.equal((await call('GET', 'sys/leader', undefined, '')).body.performance_standby, standby)
    // A sealed node is sealed first of all.
    await node.operations.seal()
    const sealed = await call('GET', `sys/health${query}`, undefined, '')
    const { replication_dr_mode: drThen, replication_performance_mode: performanceThen } = sealed.body
    assert.deepEqual([sealed.status, drThen, performanceThen], [503, 'unknown', 'unknown'])
  })
}

test('health: a status that is none is refused', async () => {
  const { call } = await startMemoryServer()
  for (const code of ['100', '600', 'x'])
    assert.equal((await call('GET', `sys/health?activecode=${code}`, undefined, '')).status, 400, code)
})

test('a wrapped answer does not outlast the mount that gave it, and no other is touched', async () => {
  const { call } = await startMemoryServer()
  const wrapped = async (path: string): Promise<string> => {
    await call('POST', `sys/mounts/${path}`, { type: 'transit' })
    const { body } = await call('POST', `${path}/keys/k`, {}, 'root', { wrapTtl: '60' })
    return String((body.wrap_info as { token: string }).token)
  }
  const [gone, kept] = [await wrapped('one'), await wrapped('other')]
  assert.deepEqual((await call('LIST', 'sys/leases/lookup/')).body.data?.keys, ['one/', 'other/'])
  await call('DELETE', 'sys/mounts/one')
  assert.deepEqual((await call('LIST', 'sys/leases/lookup/')).body.data?.keys, ['other/'])
  assert.equal((await call('POST', 'sys/wrapping/unwrap', { token: gone })).status, 400)
  assert.equal((await call('POST', 'sys/wrapping/unwrap', { token: kept })).status, 200)
})

const MODES: readonly { readonly role: Partial<NodeRole>; readonly dr: string; readonly performance: string }[] = [
  { role: {}, dr: 'disabled', performance: 'disabled' },
  { role: { dr: 'primary', performance: 'primary' }, dr: 'primary', performance: 'primary' },
  { role: { dr: 'primary', performance: 'secondary' }, dr: 'primary', performance: 'secondary' },
  { role: { dr: 'secondary' }, dr: 'secondary', performance: 'disabled' },
  { role: { dr: 'secondary', performance: 'primary' }, dr: 'secondary', performance: 'disabled' },
  { role: { performance: 'bootstrapping' }, dr: 'disabled', performance: 'bootstrapping' },
]
for (const { role, dr, performance } of MODES) {
  test(`replication: the status of ${JSON.stringify(role)} is shown without a token`, async () => {
    const { node, call } = await startMemoryServer()
    await node.changeRole({ ...FOLLOWS_NONE, role: { ...ACTIVE_PRIMARY, ...role } })
    const status = async (path: string) => {
      const { status: code, body } = await call('GET', `sys/replication/${path}`, undefined, '')
      assert.equal(code, 200)
      return body.data as Record<string, Record<string, unknown>>
    }
    const whole = await status('status')
    assert.deepEqual(Object.keys(whole), ['dr', 'performance'])
    for (const [family, mode] of Object.entries({ dr, performance })) {
      assert.equal(whole[family]?.mode, mode)
      // What else the other modes show: replication-status-endpoints.test.ts.
      assert.deepEqual(await status(`${family}/status`), whole[family])
      if (mode === 'disabled') assert.deepEqual(whole[family], { mode })
    }
  })
}
