// The configuration of a mount and its roles: what is taken, kept, shown and refused.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { SAMPLE } from '../../emulator/sample-plan.ts'
import { nextTimeMs, parseSchedule } from '../../src/engines/cloud/schedule.ts'
import { type CloudServer, startCloudServer } from '../fixtures/cloud-server.ts'

let server: CloudServer
before(async () => {
  server = await startCloudServer()
  for (const mount of ['plain', 'kept', 'gone', 'names', 'held'])
    await server.call('POST', `sys/auth/${mount}`, { type: 'azure' })
})
after(() => server.stop())

const BASE = { tenant_id: SAMPLE.tenant, resource: 'https://management.azure.com/' }
const write = (mount: string, body: object, token?: string) => server.call('POST', `auth/${mount}/config`, body, token)
const read = async (mount: string, token?: string) =>
  (await server.call('GET', `auth/${mount}/config`, undefined, token)).body.data

test('S1: tenant and resource alone, read back', async () => {
  assert.equal((await write('plain', BASE)).status, 204)
  assert.deepEqual(await read('plain'), {
    ...BASE,
    environment: '',
    client_id: '',
    root_password_ttl: 15_768_000,
    max_retries: 3,
    retry_delay: 4_000_000_000,
    max_retry_delay: 60_000_000_000,
    require_resource_fields: true,
    accept_v2_tokens: false,
    check_group_overage: false,
    auth_type: '',
    identity_token_audience: '',
    identity_token_ttl: 0,
    rotation_period: 0,
    rotation_schedule: '',
    rotation_window: 0,
    rotation_policy: '',
    disable_automated_rotation: false,
    rotation_pending: false,
    from_environment: [],
  })
})

test('S1: the secret is shown to sudo alone, as long as an operator wrote it', async () => {
  await write('plain', { ...BASE, client_id: SAMPLE.clientId, client_secret: 'operators-own' })
  await server.call('POST', 'sys/policies/acl/reads', {
    policy: 'path "auth/plain/config" { capabilities = ["read"] }',
  })
  const made = await server.call('POST', 'auth/token/create', { policies: ['reads'] })
  const token = (made.body.auth as { client_token: string }).client_token
  assert.equal((await read('plain'))?.client_secret, 'operators-own')
  const plain = await read('plain', token)
  assert.deepEqual([plain?.client_id, plain?.client_secret], [SAMPLE.clientId, undefined])
})

test('S2: V-07: what is missing is named, and nothing is stored', async () => {
  for (const [body, wanted] of [
    [{ resource: 'x' }, 'tenant_id is required'],
    [{ tenant_id: SAMPLE.tenant }, 'resource is required'],
  ] as const) {
    const { status, body: answer } = await write('gone', body)
    assert.deepEqual([status, answer.errors], [400, [wanted]])
  }
  assert.equal((await server.call('GET', 'auth/gone/config')).status, 404)
})

test('S3, S4: L-13: the environment stands in for what the configuration leaves out, and never before it', async () => {
  const environment = {
    TENANT_ID: SAMPLE.tenant,
    AD_RESOURCE: 'https://from.environment/',
    ENVIRONMENT: 'TestCloud',
    CLIENT_ID: SAMPLE.clientId,
    CLIENT_SECRET: SAMPLE.clientSecret,
  }
  const other = await startCloudServer({ environment })
  try {
    await other.call('POST', 'sys/auth/env', { type: 'azure' })
    await other.role('r', { bound_service_principal_ids: [other.oid(other.vm('vm1'))] }, 'auth/env')
    const login = async (audience: string) => {
      const jwt = await other.emulator.minting.ofResource(other.vm('vm1'), { claims: { aud: audience } })
      const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app' }
      return (await other.login({ role: 'r', jwt, ...place }, 'auth/env')).status
    }
    // Nothing is stored, and all is there.
    assert.equal(await login('https://from.environment/'), 200)
    assert.equal((await other.call('POST', 'auth/env/config', {})).status, 204)
    const shown = (await other.call('GET', 'auth/env/config')).body.data
    assert.deepEqual(shown?.from_environment, ['tenant_id', 'resource', 'environment', 'client_id', 'client_secret'])
    assert.ok(!JSON.stringify(shown).includes(SAMPLE.clientSecret))
    await other.call('POST', 'auth/env/config', { resource: 'https://configured/' })
    assert.deepEqual([await login('https://configured/'), await login('https://from.environment/')], [200, 403])
  } finally {
    await other.stop()
  }
})

test('S5: names of clouds, in both spellings and any case', async () => {
  for (const prefix of ['Cloud', 'AZURE', 'azure']) {
    for (const name of ['PublicCloud', 'USGovernmentCloud', 'chinacloud']) {
      assert.equal((await write('names', { ...BASE, environment: prefix + name })).status, 204, prefix + name)
    }
    const german = await write('names', { ...BASE, environment: `${prefix}GermanCloud` })
    assert.equal(german.status, 200)
    assert.match(String(german.body.warnings), /closed/)
  }
  assert.equal((await write('names', { ...BASE, environment: 'testCLOUD' })).status, 204)
  const { status, body } = await write('names', { ...BASE, environment: 'Nowhere' })
  assert.equal(status, 400)
  assert.match(String(body.errors), /environment.*CloudPublicCloud.*TestCloud/)
})

test('S6: what is not sent is kept', async () => {
  const all = { ...BASE, client_id: SAMPLE.clientId, root_password_ttl: '24h', max_retries: 7, retry_delay: '10s' }
  await write('kept', all)
  await write('kept', { tenant_id: 'example.test' })
  const after = await read('kept')
  assert.deepEqual(
    [
      after?.tenant_id,
      after?.resource,
      after?.client_id,
      after?.root_password_ttl,
      after?.max_retries,
      after?.retry_delay,
    ],
    ['example.test', BASE.resource, SAMPLE.clientId, 86_400, 7, 10_000_000_000],
  )
})

test('what is not offered is refused by name', async () => {
  const { status, body } = await write('kept', { rotation_policy: 'x' })
  assert.equal(status, 400)
  assert.match(String(body.errors), /rotation_policy/)
})

test('S8: durations as clients write them', async () => {
  for (const [given, field, wanted] of [
    [{ retry_delay: 10 }, 'retry_delay', 10_000_000_000],
    [{ retry_delay: '10s' }, 'retry_delay', 10_000_000_000],
    [{ retry_delay: -1 }, 'retry_delay', -1_000_000_000],
    [{ root_password_ttl: '24h' }, 'root_password_ttl', 86_400],
    [{ root_password_ttl: '2d' }, 'root_password_ttl', 172_800],
  ] as const) {
    assert.equal((await write('kept', given)).status, 204)
    assert.equal((await read('kept'))?.[field], wanted)
  }
  assert.equal((await write('kept', { root_password_ttl: -1 })).status, 400)
})

test('S9: a secret of the wrong kind comes back in no answer', async () => {
  const { status, body } = await write('kept', { client_secret: { hidden: 'do-not-show' } })
  assert.equal(status, 400)
  assert.ok(!`${JSON.stringify(body)}${server.lines.join()}`.includes('do-not-show'))
})

test('S10: deleted, and roles stay', async () => {
  await write('gone', BASE)
  await server.role('stays', { bound_group_ids: ['g'] }, 'auth/gone')
  const statuses = []
  for (const method of ['DELETE', 'GET', 'DELETE'])
    statuses.push((await server.call(method, 'auth/gone/config')).status)
  assert.deepEqual(statuses, [204, 404, 204])
  assert.equal((await server.call('GET', 'auth/gone/role/stays')).status, 200)
})

test('S11: the first write needs create, later ones update', async () => {
  await server.call('POST', 'sys/auth/rights', { type: 'cloud' })
  for (const capability of ['create', 'update']) {
    const policy = `path "auth/rights/config" { capabilities = ["${capability}"] }`
    await server.call('POST', `sys/policies/acl/only-${capability}`, { policy })
  }
  const tokenOf = async (policy: string) => {
    const made = await server.call('POST', 'auth/token/create', { policies: [policy] })
    return (made.body.auth as { client_token: string }).client_token
  }
  const [creates, updates] = [await tokenOf('only-create'), await tokenOf('only-update')]
  const by = async (token: string) => (await write('rights', BASE, token)).status
  assert.deepEqual([await by(updates), await by(creates), await by(creates), await by(updates)], [403, 204, 403, 204])
})

test('S13: schedules', async () => {
  for (const [body, wanted] of [
    [{ rotation_schedule: '0 3 * * 0', rotation_period: 3600 }, /mutually exclusive/],
    [{ rotation_period: 3600, rotation_window: 3600 }, /does not apply to period/],
    [{ rotation_window: 3600 }, /without rotation_schedule/],
    [{ rotation_schedule: '0 3 * *' }, /rotation_schedule/],
    [{ rotation_schedule: '61 3 * * *' }, /rotation_schedule/],
    [{ rotation_period: 5 }, /rotation_period/],
    [{ rotation_schedule: '0 3 * * 0', rotation_window: 60 }, /rotation_window/],
  ] as const) {
    const { status, body: answer } = await write('plain', body)
    assert.equal(status, 400)
    assert.match(String(answer.errors), wanted)
  }
  assert.equal((await write('plain', { rotation_schedule: '0 3 * * 0', rotation_window: '2h' })).status, 204)
})

test('times of a schedule, as cron has them', () => {
  const at = (text: string, after: string): string | undefined => {
    const schedule = parseSchedule(text) ?? assert.fail(text)
    const ms = nextTimeMs(schedule, Date.parse(after))
    return ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16)
  }
  assert.equal(at('0 3 * * *', '2026-01-01T03:00:00Z'), '2026-01-02T03:00')
  assert.equal(at('*/15 * * * *', '2026-01-01T03:14:59Z'), '2026-01-01T03:15')
  assert.equal(at('0 0 29 2 *', '2026-01-01T00:00:00Z'), '2028-02-29T00:00')
  assert.equal(at('30 6 * * 1-5', '2026-01-02T07:00:00Z'), '2026-01-05T06:30')
  // One of the two days is enough where both are told.
  assert.equal(at('0 0 13 * 5', '2026-01-01T00:00:00Z'), '2026-01-02T00:00')
  assert.equal(at('0 0 1 * 7', '2026-01-02T00:00:00Z'), '2026-01-04T00:00')
  assert.equal(at('0 0 30 2 *', '2026-01-01T00:00:00Z'), undefined)
})

test('S14: tenants that stand for all tenants, and texts that are none', async () => {
  for (const tenant of ['common', 'COMMON', 'organizations', 'consumers', 'adfs', 'a/b', 'x?y', '..', 'a b'])
    assert.equal((await write('plain', { tenant_id: tenant })).status, 400, tenant)
  assert.equal((await write('plain', { client_id: 'not a guid' })).status, 400)
})

test('S14: L-13: the environment names no tenant that stands for many either', async () => {
  for (const tenant of ['common', 'consumers', 'a/b']) {
    const other = await startCloudServer({ environment: { TENANT_ID: tenant } })
    try {
      const empty = await other.call('POST', 'auth/cloud/config', { tenant_id: '' })
      assert.equal(empty.status, 400)
      assert.match(String(empty.body.errors), /tenant_id/)
      await other.call('POST', 'sys/auth/env', { type: 'azure' })
      await other.role('r', { bound_service_principal_ids: [SAMPLE.tenant] }, 'auth/env')
      const jwt = await other.emulator.minting.ofResource(other.vm('vm1'))
      const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app' }
      other.emulator.requests.clear()
      assert.equal((await other.login({ role: 'r', jwt, ...place }, 'auth/env')).status, 400)
      assert.equal(other.emulator.requests.count(), 0)
    } finally {
      await other.stop()
    }
  }
})

test('S12: logins while the configuration is written are each of one configuration', async () => {
  await server.role('steady', { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] })
  const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
  const audiences = ['https://management.azure.com/', 'https://other.example/']
  const tokens = await Promise.all(
    audiences.map((aud) => server.emulator.minting.ofResource(server.vm('vm1'), { claims: { aud } })),
  )
  const statuses = new Set<number>()
  for (let i = 0; i < 20; i++) {
    const logins = tokens.map((jwt) => server.login({ role: 'steady', jwt, ...place }))
    const written = await server.call('POST', 'auth/cloud/config', { resource: audiences[i % 2] })
    assert.equal(written.status, 204)
    for (const { status } of await Promise.all(logins)) statuses.add(status)
    const after = await Promise.all(tokens.map((jwt) => server.login({ role: 'steady', jwt, ...place })))
    assert.deepEqual(
      after.map(({ status }) => status),
      i % 2 === 0 ? [200, 403] : [403, 200],
    )
  }
  assert.deepEqual(statuses, new Set([200, 403]))
  await server.configure()
})

// Roles.

const role = (name: string, body: object) => server.role(name, body)
const readRole = async (name: string) => (await server.call('GET', `auth/cloud/role/${name}`)).body.data

test('K1: one bound of each kind, read back with lists for the others', async () => {
  for (const bound of [
    'service_principal_ids',
    'group_ids',
    'subscription_ids',
    'resource_groups',
    'locations',
    'scale_sets',
  ]) {
    const name = `bound_${bound}`
    assert.ok((await role('one', { [name]: [SAMPLE.tenant] })).status < 300)
    const data = await readRole('one')
    assert.deepEqual(data?.[name], [SAMPLE.tenant])
    await server.call('DELETE', 'auth/cloud/role/one')
  }
  await role('one', { bound_group_ids: [SAMPLE.tenant] })
  assert.deepEqual((await readRole('one'))?.bound_locations, [])
})

test('K2: L-03: no bound at all', async () => {
  const none = await role('none', { token_ttl: 60 })
  assert.deepEqual(
    [none.status, none.body.errors],
    [400, ['must have at least one bound constraint when creating/updating a role']],
  )
  await role('last', { bound_locations: 'eastus' })
  assert.equal((await role('last', { bound_locations: '' })).status, 400)
  assert.deepEqual((await readRole('last'))?.bound_locations, ['eastus'])
})

test('K3: lists as texts and arrays', async () => {
  for (const list of ['a, b', ['a', ' b '], 'a,b,,']) {
    await role('lists', { bound_resource_groups: list })
    assert.deepEqual((await readRole('lists'))?.bound_resource_groups, ['a', 'b'])
  }
})

test('K4, K5, K13: partial updates, and the old names of fields', async () => {
  await role('old', { bound_locations: 'eastus', policies: 'B,a', ttl: '1h', max_ttl: '2h', period: 0, num_uses: 3 })
  const made = await readRole('old')
  assert.deepEqual(
    [
      made?.token_policies,
      made?.policies,
      made?.token_ttl,
      made?.ttl,
      made?.token_max_ttl,
      made?.token_num_uses,
      made?.num_uses,
    ],
    [['a', 'b'], ['a', 'b'], 3600, 3600, 7200, 3, 3],
  )
  await role('old', { token_ttl: 60, token_policies: 'c' })
  const changed = await readRole('old')
  assert.deepEqual(
    [
      changed?.token_ttl,
      changed?.ttl,
      changed?.token_policies,
      changed?.policies,
      changed?.max_ttl,
      changed?.bound_locations,
    ],
    [60, undefined, ['c'], undefined, 7200, ['eastus']],
  )
  await role('old', { ttl: 30, token_ttl: 90 })
  assert.equal((await readRole('old'))?.token_ttl, 90)
})

test('K6, K7: token fields that cannot be, and one that is cut', async () => {
  const bound = { bound_locations: 'eastus' }
  for (const fields of [
    { token_ttl: 60, token_max_ttl: 30 },
    { token_ttl: -1 },
    { token_period: 800 * 3600 },
    { token_type: 'batch', token_period: 60 },
    { token_type: 'batch', token_num_uses: 1 },
    { token_type: 'strange' },
    { token_type: 'default-service' },
    { token_bound_cidrs: 'everywhere' },
  ])
    assert.equal((await role('wrong', { ...bound, ...fields })).status, 400, JSON.stringify(fields))
  const long = await role('long', { ...bound, token_max_ttl: 800 * 3600 })
  assert.equal(long.status, 200)
  assert.match(String(long.body.warnings), /max_ttl is greater than the system/)
})

test('K8, K9, K10: names', async () => {
  await role('MiXed', { bound_locations: 'eastus' })
  assert.ok((await readRole('mixed')) !== undefined)
  const { keys } = (await server.call('LIST', 'auth/cloud/role')).body.data as { keys: string[] }
  assert.ok(keys.includes('mixed') && !keys.includes('MiXed'))
  await server.call('DELETE', 'auth/cloud/role/MIXED')
  assert.equal((await server.call('GET', 'auth/cloud/role/mixed')).status, 404)
  const statuses = []
  for (const name of ['a', 'a-b.c', '-a', 'a/b', 'x'.repeat(300)])
    statuses.push((await role(name, { bound_locations: 'eastus' })).status)
  assert.deepEqual(statuses, [204, 204, 404, 404, 400])
  assert.deepEqual((await server.call('LIST', 'auth/held/role')).status, 404)
})

test('K11: addresses', async () => {
  await role('from', { bound_locations: 'eastus', token_bound_cidrs: ['127.0.0.1/32', '10.1.2.3/8', '2001:db8::/32'] })
  assert.deepEqual((await readRole('from'))?.token_bound_cidrs, ['127.0.0.1', '10.1.2.3/8', '2001:db8::/32'])
})

test('K12: L-03: what narrows nothing is stored, and said', async () => {
  for (const [body, wanted] of [
    [{ bound_service_principal_ids: '*' }, /narrows nothing/],
    [{ bound_service_principal_ids: ['*', 'x'], bound_locations: 'eastus' }, /stands for itself/],
    [{ bound_group_ids: 'a name' }, /no GUID/],
  ] as const) {
    const { status, body: answer } = await role('said', body)
    assert.equal(status, 200)
    assert.match(String(answer.warnings), wanted)
  }
  assert.equal((await role('quiet', { bound_subscription_ids: [SAMPLE.subscription] })).status, 204)
})
