// What a login gives: tokens with the settings of the role, an identity with what was verified of it, and renewals.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { SAMPLE } from '../../emulator/sample-plan.ts'
import { type CloudServer, startCloudServer } from '../fixtures/cloud-server.ts'
import { type Called, wireRequest } from '../fixtures/memory-server.ts'

let server: CloudServer
before(async () => {
  server = await startCloudServer()
})
after(() => server.stop())

const PLACE = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
const authOf = ({ body }: Called) => body.auth as Record<string, unknown>
async function logIn(role: object, input: object = {}, claims = {}, mount?: string) {
  const oid = server.oid(server.vm('vm1'))
  const written = await server.role('r', { bound_service_principal_ids: [oid], ...role }, mount)
  assert.ok(written.status < 300, JSON.stringify(written.body))
  const jwt = await server.emulator.minting.ofResource(server.vm('vm1'), { claims })
  return server.login({ role: 'R', jwt, ...PLACE, ...input }, mount)
}
const as = (answer: Called, method: string, path: string, body?: unknown) =>
  server.call(method, path, body, String(authOf(answer).client_token))

test('T1, T2, T5, T7: the whole answer, and what the token says of itself', async () => {
  const oid = server.oid(server.vm('vm1'))
  const answer = await logIn({ token_policies: ['b', 'A'], token_ttl: '10m', token_num_uses: 5 })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const { client_token: _t, accessor: _a, entity_id: entity, metadata, ...rest } = authOf(answer)
  assert.deepEqual(rest, {
    policies: ['a', 'b', 'default'],
    token_policies: ['a', 'b', 'default'],
    lease_duration: 600,
    renewable: true,
    token_type: 'service',
    orphan: true,
    mfa_requirement: null,
    num_uses: 5,
  })
  assert.deepEqual(metadata, { ...PLACE, app_id: (metadata as { app_id: string }).app_id, role: 'r' })
  const { data } = (await as(answer, 'GET', 'auth/token/lookup-self')).body
  assert.deepEqual(
    [data?.path, data?.display_name, data?.entity_id, data?.type],
    ['auth/cloud/login', `cloud-${oid}`, entity, 'service'],
  )
  const batch = await logIn({
    token_type: 'batch',
    token_num_uses: 0,
    token_no_default_policy: true,
    token_policies: '',
  })
  assert.deepEqual([authOf(batch).token_type, authOf(batch).policies, authOf(batch).accessor], ['batch', [], ''])
})

test('T4: tokens are bound to where logins come from', async () => {
  const answer = await logIn({
    token_bound_cidrs: ['127.0.0.0/8'],
    token_type: 'default',
    token_no_default_policy: false,
  })
  const { data } = (await as(answer, 'GET', 'auth/token/lookup-self')).body
  assert.deepEqual(data?.bound_cidrs, ['127.0.0.0/8'])
  const batch = await logIn({ token_type: 'batch' })
  assert.equal(authOf(batch).token_type, 'batch')
  const lookUp = async ({ client_token: token }: Record<string, unknown>, remoteAddress: string) => {
    const request = wireRequest('GET', 'auth/token/lookup-self', undefined, String(token))
    return (await server.node.core.handle({ ...request, remoteAddress })).status
  }
  for (const auth of [authOf(answer), authOf(batch)]) {
    assert.deepEqual(
      [await lookUp(auth, '127.0.0.9'), await lookUp(auth, '::ffff:127.0.0.9'), await lookUp(auth, '10.0.0.1')],
      [200, 200, 403],
    )
  }
  // The token keeps what its login said.
  await logIn({ token_bound_cidrs: [], token_type: 'default' })
  assert.equal(await lookUp(authOf(answer), '10.0.0.1'), 403)
})

test('T8: groups follow each login', async () => {
  const mounts = (await server.call('GET', 'sys/auth')).body.data as Record<string, { accessor: string }>
  const made = await server.call('POST', 'identity/group', { name: 'from-cloud', type: 'external', policies: ['ops'] })
  const group = made.body.data?.id
  const alias = { name: 'g-1', mount_accessor: mounts['cloud/']?.accessor, canonical_id: group }
  assert.ok((await server.call('POST', 'identity/group-alias', alias)).status < 300)
  const inside = await logIn({}, {}, { groups: ['g-1', 'g-2'] })
  assert.deepEqual(authOf(inside).identity_policies, ['ops'])
  const outside = await logIn({}, {}, { groups: ['g-2'] })
  assert.equal(authOf(outside).identity_policies, undefined)
  assert.equal(authOf(inside).entity_id, authOf(outside).entity_id)
})

test('T10: a caller’s own words never become metadata', async () => {
  for (const input of [
    { resource_group_name: 'elsewhere' },
    { subscription_id: SAMPLE.otherSubscription },
    { vm_name: 'vm2' },
    { vmss_name: 'ss-u' },
    { vm_name: undefined, resource_id: server.site('site1') },
  ]) {
    const { role: _r, app_id: _a, ...names } = authOf(await logIn({}, input)).metadata as Record<string, string>
    assert.deepEqual(names, { subscription_id: '', resource_group_name: '' }, JSON.stringify(input))
  }
})

test('T13: quotas of a role count its logins', async () => {
  await server.call('POST', 'sys/auth/counted', { type: 'cloud' })
  await server.configure({}, 'auth/counted')
  const quota = { path: 'auth/counted', rate: 1, interval: '1h', role: 'r' }
  const made = await server.call('POST', 'sys/quotas/rate-limit/of-a-role', quota)
  assert.equal(made.status, 204, JSON.stringify(made.body))
  assert.equal((await logIn({}, {}, {}, 'auth/counted')).status, 200)
  assert.equal((await logIn({}, {}, {}, 'auth/counted')).status, 429)
  assert.equal((await logIn({}, { role: 'other' }, {}, 'auth/counted')).status, 400)
  await server.call('DELETE', 'sys/quotas/rate-limit/of-a-role')
})

test('N1, N2, N3: T-23: renewal by the role’s lifetimes of now and the token’s own policies', async () => {
  const answer = await logIn({ token_ttl: 600, token_max_ttl: 3600, token_policies: 'p1', token_num_uses: 0 })
  const renew = (body: object = {}) => as(answer, 'POST', 'auth/token/renew-self', { role: 'other', ...body })
  await server.role('r', { token_ttl: 300, token_policies: 'p2' })
  const renewed = await renew()
  assert.deepEqual([authOf(renewed).lease_duration, authOf(renewed).token_policies], [300, ['default', 'p1']])
  await server.call('DELETE', 'auth/cloud/role/r')
  assert.equal((await renew()).status, 400)
  assert.equal((await as(answer, 'GET', 'auth/token/lookup-self')).status, 200)
})

test('N6, N8: nothing is renewed beyond its end, and no batch token at all', async () => {
  const answer = await logIn({ token_ttl: 600, token_max_ttl: 900, token_num_uses: 0, token_type: 'default' })
  server.advance(599)
  const renewed = await as(answer, 'POST', 'auth/token/renew-self', {})
  assert.ok((authOf(renewed).lease_duration as number) <= 301)
  server.advance(302)
  assert.equal((await as(answer, 'GET', 'auth/token/lookup-self')).status, 403)
  const batch = await logIn({ token_type: 'batch', token_policies: 'default' })
  assert.equal((await as(batch, 'POST', 'auth/token/renew-self', {})).status, 400)
})

test('explain needs sudo, and logs nobody in', async () => {
  await logIn({ token_type: 'default' })
  await server.call('POST', 'sys/policies/acl/explains', {
    policy: 'path "auth/cloud/explain" { capabilities = ["update"] }',
  })
  const made = await server.call('POST', 'auth/token/create', { policies: ['explains'] })
  const token = (made.body.auth as { client_token: string }).client_token
  const jwt = await server.emulator.minting.ofResource(server.vm('vm1'))
  const request = { role: 'r', jwt, ...PLACE }
  assert.equal((await server.call('POST', 'auth/cloud/explain', request, token)).status, 403)
  const { body } = await server.call('POST', 'auth/cloud/explain', { ...request, remote_address: '192.0.2.1' })
  assert.deepEqual([body.data?.allowed, body.auth ?? null], [true, null])
  const odd = await server.call('POST', 'auth/cloud/explain', { ...request, remote_address: 'somewhere' })
  assert.equal(odd.status, 400)
  assert.match(String(odd.body.errors), /remote_address/)
  const expired = await server.emulator.minting.ofResource(server.vm('vm2'), { claims: { exp: 1, aud: 'other' } })
  const refused = (await server.call('POST', 'auth/cloud/explain', { ...request, jwt: expired })).body.data
  const checks = refused?.checks as { name: string; verdict: string; detail: string }[]
  // Claim by claim: more than the first that fails.
  assert.deepEqual(
    checks.filter(({ verdict }) => verdict === 'failed').map(({ name }) => name),
    ['aud is the configured resource', 'exp is ahead'],
  )
  assert.equal(refused?.reason, checks.find(({ verdict }) => verdict === 'failed')?.detail)
})

test('R11: rotate-root without auth/ is the same path, to policy and audit too', async () => {
  await server.call('POST', 'sys/policies/acl/rotates', {
    policy: 'path "auth/cloud/rotate-root" { capabilities = ["update"] }',
  })
  const made = await server.call('POST', 'auth/token/create', { policies: ['rotates'] })
  const token = (made.body.auth as { client_token: string }).client_token
  assert.equal((await server.call('POST', 'cloud/rotate-root', undefined, token)).status, 204)
  await server.call('POST', 'sys/policies/acl/wrong', {
    policy: 'path "cloud/rotate-root" { capabilities = ["update"] }',
  })
  const other = await server.call('POST', 'auth/token/create', { policies: ['wrong'] })
  const wrong = (other.body.auth as { client_token: string }).client_token
  assert.equal((await server.call('POST', 'cloud/rotate-root', undefined, wrong)).status, 403)
  // Nothing else of the mount is there, and a mount of that path comes first.
  assert.equal((await server.call('GET', 'cloud/config')).status, 404)
  await server.call('POST', 'sys/mounts/cloud', { type: 'transit' })
  assert.equal((await server.call('POST', 'cloud/rotate-root')).status, 404)
})
