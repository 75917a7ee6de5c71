// What a cloud that is slow, broken or hostile does to logins: they end in time, tell what is wrong in our own words,
// and nothing that should stay here leaves.
import { strict as assert } from 'node:assert'
import { after, beforeEach, test } from 'node:test'
import type { Service } from '../../emulator/exchange.ts'
import type { FaultAction } from '../../emulator/faults.ts'
import { SAMPLE } from '../../emulator/sample-plan.ts'
import { type CloudServer, START_MS, startCloudServer } from '../fixtures/cloud-server.ts'
import { steppedTime } from '../fixtures/stepped-time.ts'
import { until } from '../fixtures/until.ts'

// Time limits are passed by moving the time: nothing here depends on how fast the machine is.
const time = steppedTime(START_MS)
const server: CloudServer = await startCloudServer({ time })
after(() => server.stop())
const { emulator } = server
const ROLE = { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] }
await server.role('r', ROLE)

let turn = 0
const token = (claims = {}) => emulator.minting.ofResource(server.vm('vm1'), { claims })
const request = async (jwt?: string) => ({
  role: 'r',
  jwt: jwt ?? (await token()),
  subscription_id: SAMPLE.subscription,
  resource_group_name: 'rg-app',
  vm_name: 'vm1',
})
const logIn = async (jwt?: string) => server.login(await request(jwt))

/** How many of them have ended; their statuses once all have, for which the time moves on. */
function watch(logins: readonly ReturnType<typeof server.login>[]) {
  let ended = 0
  for (const each of logins) void each.then(() => (ended += 1))
  return {
    ended: () => ended,
    statuses: async () => {
      while (ended < logins.length) await time.advance(1_000)
      return new Set((await Promise.all(logins)).map(({ status }) => status))
    },
  }
}
const asked = (path = '**') => emulator.requests.count({ service: 'resourceManager', path })

beforeEach(async () => {
  emulator.faults.clear()
  // Another configuration: what was kept is gone.
  await server.configure({ root_password_ttl: 1_000 + ++turn, max_retries: 2, retry_delay: -1 })
  emulator.requests.clear()
})

const hit = (service: Service, action: FaultAction, times?: number, path?: string) =>
  emulator.faults.add({
    service,
    action,
    ...(times === undefined ? {} : { times }),
    ...(path === undefined ? {} : { path }),
  })

test('F1: F-18: the directory fails at the first login, and then does not', async () => {
  hit('authority', { kind: 'status', status: 500 }, 3)
  const first = await logIn()
  assert.deepEqual([first.status, first.body.errors], [502, ['identity provider unavailable']])
  assert.equal((await logIn()).status, 200)
})

test('F2: keys that are there serve while the identity provider is down', async () => {
  assert.equal((await logIn()).status, 200)
  hit('authority', { kind: 'status', status: 503 })
  assert.equal((await logIn()).status, 200)
})

test('F3: L-08: a new key is fetched once, when a token names it', async () => {
  assert.equal((await logIn()).status, 200)
  emulator.requests.clear()
  await emulator.keys.rotate({ unannounced: true })
  emulator.keys.publish()
  assert.equal((await logIn()).status, 200)
  assert.equal(emulator.requests.count({ service: 'authority', path: '**/keys' }), 1)
})

test('F4: L-08: a flood of unknown keys leads to one look at the keys', async () => {
  assert.equal((await logIn()).status, 200)
  emulator.requests.clear()
  const [header, payload, signature] = (await token()).split('.')
  const own = JSON.parse(Buffer.from(header as string, 'base64url').toString())
  for (let i = 0; i < 1_000; i++) {
    const forged = Buffer.from(JSON.stringify({ ...own, kid: `none-${i}` })).toString('base64url')
    const { status } = await logIn(`${forged}.${payload}.${signature}`)
    assert.equal(status, 403)
  }
  assert.equal(emulator.requests.count({ service: 'authority' }), 1)
})

test('F5: L-11: keys at another place, and redirects, are not gone to', async () => {
  const elsewhere = emulator.origin('elsewhere')
  hit('authority', { kind: 'merge', json: { jwks_uri: `${elsewhere}/keys` } }, undefined, '/*/.well-known/*')
  assert.equal((await logIn()).status, 502)
  for (const [service, path] of [
    ['authority', '/*/.well-known/*'],
    ['authority', '**/keys'],
    ['authority', '**/token'],
    ['resourceManager', '**'],
  ] as const) {
    await server.configure({ root_password_ttl: 1_000 + ++turn })
    emulator.faults.clear()
    hit(service, { kind: 'redirect', status: 307, to: elsewhere }, undefined, path)
    assert.equal((await logIn()).status, 502, path)
  }
  assert.equal(emulator.requests.count({ service: 'elsewhere' }), 0)
})

test('F6: Retry-After is kept where it fits, and else the login fails at once', async () => {
  hit('resourceManager', { kind: 'throttle', retryAfter: '1' }, 1)
  const login = logIn()
  await until(() => time.sleeping().includes(1_000))
  await time.advance(999)
  assert.equal(asked(), 1)
  await time.advance(1)
  assert.equal((await login).status, 200)
  for (const retryAfter of ['600', new Date(time.clock.nowMs() + 600_000).toUTCString()]) {
    await server.configure({ root_password_ttl: 1_000 + ++turn })
    emulator.faults.clear()
    emulator.requests.clear()
    hit('resourceManager', { kind: 'throttle', retryAfter })
    // The time stands still meanwhile.
    assert.equal((await logIn()).status, 502)
    assert.equal(asked(), 1)
  }
})

test('F7: 503 twice, then an answer', async () => {
  hit('resourceManager', { kind: 'status', status: 503 }, 2)
  assert.equal((await logIn()).status, 200)
})

test('F8: a login ends within 10 s, while others that need no cloud go on', async () => {
  // As the service is configured by itself: the waits between attempts are cut to what is left.
  await server.configure({ root_password_ttl: 1_000 + ++turn, max_retries: 3, retry_delay: 4 })
  hit('resourceManager', { kind: 'hang' })
  const one = watch([logIn()])
  await until(() => asked() === 1)
  await time.advance(9_999)
  assert.equal(one.ended(), 0)
  await time.advance(1)
  await until(() => one.ended() === 1)
  assert.deepEqual(await one.statuses(), new Set([502]))
  // What it asked ends with it; who comes before it has ended would share that end.
  await time.advance(1)
  emulator.requests.clear()
  const jwt = await token()
  const logins = watch(Array.from({ length: 500 }, () => logIn(jwt)))
  await until(() => asked() === 1)
  for (let i = 0; i < 20; i++) assert.equal((await server.call('GET', 'auth/cloud/role/r')).status, 200)
  assert.equal(logins.ended(), 0)
  // One machine: whoever asks while it is asked waits for the same answer.
  assert.equal(asked(), 1)
  assert.deepEqual(await logins.statuses(), new Set([502]))
})

const BROKEN: readonly FaultAction[] = [
  { kind: 'truncate' },
  { kind: 'html' },
  { kind: 'contentType', value: 'text/plain' },
  { kind: 'large', bytes: 5_000_000 },
  { kind: 'deep', levels: 200 },
  { kind: 'byteOrderMark' },
  { kind: 'gzipBomb', bytes: 5_000_000 },
  { kind: 'reset' },
  { kind: 'reset', afterBytes: 10 },
]
for (const action of BROKEN) {
  for (const service of ['authority', 'resourceManager'] as const) {
    test(`F9: L-04: ${service} answers with ${JSON.stringify(action)}`, async () => {
      hit(service, action)
      const { status, body } = await logIn()
      assert.equal(status, 502)
      assert.match(String(body.errors), /^(identity provider|resource manager) unavailable$/)
    })
  }
}

test('F10: a token of ours that is not taken is replaced, once', async () => {
  hit('resourceManager', { kind: 'status', status: 401 }, 1)
  assert.equal((await logIn()).status, 200)
  assert.equal(emulator.requests.count({ service: 'authority', path: '**/token' }), 2)
  await server.configure({ root_password_ttl: 1_000 + ++turn })
  hit('resourceManager', { kind: 'status', status: 401 })
  assert.equal((await logIn()).status, 502)
})

test('F11: V-07: what we may not read is said in our words, with the permission that is missing', async () => {
  const secret = 'words of the cloud'
  const error = { code: 'AuthorizationFailed', message: secret }
  hit('resourceManager', { kind: 'status', status: 403, body: { error } })
  const { status, body } = await logIn()
  assert.equal(status, 403)
  assert.match(String(body.errors), /Microsoft\.Compute\/virtualMachines\/read/)
  assert.ok(!JSON.stringify(body).includes(secret))
})

test('F11: the permission to read what types there are is another one', async () => {
  hit('resourceManager', { kind: 'status', status: 403 }, undefined, '/subscriptions/*/providers/Microsoft.Web')
  const jwt = await emulator.minting.ofResource(server.site('site1'))
  const { vm_name: _name, ...place } = await request(jwt)
  const { status, body } = await server.login({ ...place, resource_id: server.site('site1') })
  assert.equal(status, 403)
  assert.match(String(body.errors), /needs Microsoft\.Resources\/subscriptions\/providers\/read/)
})

test('F11: our credential is refused: 502, and not a word of the secret', async () => {
  // Of its own, so that the log is not full of what the others did.
  await server.call('POST', 'sys/auth/wrong', { type: 'azure' })
  await server.configure({ client_secret: 'a-wrong-secret-of-ours' }, 'auth/wrong')
  await server.role('r', ROLE, 'auth/wrong')
  const { status, body } = await server.login(await request(), 'auth/wrong')
  assert.equal(status, 502)
  assert.match(String(body.errors), /refused this server's own credential/)
  assert.ok(!`${JSON.stringify(body)}${server.lines.join()}`.includes('a-wrong-secret-of-ours'))
  assert.ok(
    server.lines.some((line) => line.includes('7000215')),
    'the log has the directory’s own number',
  )
})

test('F12: V-04: all pages are read, and a list that is broken decides nothing', async () => {
  await server.role('app', { bound_service_principal_ids: '*', bound_resource_groups: ['rg-pages'] })
  for (let i = 0; i < 5; i++) emulator.resources.addUserIdentity({ name: `p${i}`, resourceGroup: 'rg-pages' })
  const last = emulator.resources.addUserIdentity({ name: 'zz', resourceGroup: 'rg-pages' })
  emulator.resourceSettings.pageSize = 2
  const jwt = await emulator.minting.ofFederatedIdentity(last.id)
  const { vm_name: _, ...rest } = await request(jwt)
  const ask = () => server.login({ ...rest, role: 'app', resource_id: server.site('site1') })
  const lists = { service: 'resourceManager', path: '**/rg-pages/**/userassignedidentities' } as const
  assert.equal((await ask()).status, 200)
  assert.equal(emulator.requests.count(lists), 3)
  const broken: readonly FaultAction[] = [
    { kind: 'status', status: 500 },
    { kind: 'edit', edit: (body) => ({ ...body, nextLink: `${emulator.origin('elsewhere')}/next` }) },
    { kind: 'edit', edit: (body) => ({ ...body, nextLink: `${emulator.origin('resourceManager')}/loop` }) },
  ]
  for (const action of broken) {
    await server.configure({ root_password_ttl: 1_000 + ++turn })
    emulator.faults.clear()
    emulator.faults.add({ ...lists, from: 2, action })
    const { status } = await ask()
    assert.ok(status === 502 || status === 403, String(status))
  }
  assert.equal(emulator.requests.count({ service: 'elsewhere' }), 0)
  emulator.resourceSettings.pageSize = 50
})

test('L-05: what the resource manager says of another identity than was asked about is no answer', async () => {
  const machine = emulator.resources.get(server.vm('ss-f_1a2b3c4d'))
  const jwt = await emulator.minting.ofResource(machine.id, { userIdentity: server.identity('u2') })
  const asked = { ...(await request(jwt)), vm_name: machine.name }
  assert.equal((await server.login(asked)).status, 200)
  await server.configure({ root_password_ttl: 1_000 + ++turn })
  const u1 = server.identity('u1')
  const edit = (body: object) => ({ ...body, id: u1 })
  emulator.faults.add({ service: 'resourceManager', path: '**/u2', action: { kind: 'edit', edit } })
  assert.equal((await server.login(asked)).status, 502)
})

test('F13: requests that only cost time are refused', async () => {
  const nested = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  for (const jwt of ['.'.repeat(30_000), 'a'.repeat(40_000), `${'a'.repeat(20_000)}.b.c`, JSON.parse('"x.y.z"')])
    assert.equal((await logIn(jwt)).status, 400)
  const encoded = Buffer.from(`{"a":${nested}}`).toString('base64url')
  assert.equal((await logIn(`${encoded.slice(0, 30_000)}.${encoded.slice(0, 10)}.x`)).status, 400)
  assert.equal(emulator.requests.count(), 0)
})

test('F14: machines whose identities are told in odd ways', async () => {
  const machine = emulator.resources.get(server.vm('vm1'))
  const { identity } = machine
  const oid = server.oid(server.vm('vm1'))
  const many = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [server.identity('u1').replace(/u1$/, `many${i}`), {}]),
  )
  for (const [userAssignedIdentities, wanted] of [
    [null, 200],
    [{}, 200],
    [{ [server.identity('u1')]: null }, 200],
    [{ 'not an id': {} }, 200],
    [many, 403],
  ] as const) {
    await server.configure({ root_password_ttl: 1_000 + ++turn })
    emulator.requests.clear()
    const principalId = wanted === 200 ? { principalId: oid } : {}
    machine.identity = { type: 'SystemAssigned, UserAssigned', ...principalId, userAssignedIdentities } as never
    assert.equal((await logIn(await token({ appid: undefined }))).status, wanted)
    assert.ok(emulator.requests.count({ service: 'resourceManager' }) <= 33)
  }
  Object.assign(machine, { identity })
})

test('more machines than there are calls at once hang, and afterwards every place is free again', async () => {
  await server.configure({ root_password_ttl: 1_000 + ++turn, max_retries: 10 })
  const logins = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const { id, name } = emulator.machines.addVirtualMachine({ name: `many-${i}` })
      return { ...(await request(await emulator.minting.ofResource(id))), vm_name: name }
    }),
  )
  // These alone: what an earlier test asked for may still be on its way.
  hit('resourceManager', { kind: 'hang' }, undefined, '**/many-*')
  const refused = watch(logins.map((login) => server.login(login)))
  await until(() => asked('**/many-*') === 32)
  assert.equal(refused.ended(), 0)
  assert.deepEqual(await refused.statuses(), new Set([502]))
  emulator.faults.clear()
  // What is under way ends at its own deadline: who asks for the same machine until then waits for that.
  await time.advance(10_000)
  const admitted = await Promise.all(logins.map((login) => server.login(login)))
  assert.deepEqual(new Set(admitted.map(({ status }) => status)), new Set([200]))
})

test('L-08: keys roll over while more logins wait for the resource manager than may', async () => {
  await server.role('known', { bound_service_principal_ids: [server.oid(server.vm('vm1'))] })
  const known = async () => (await server.login({ ...(await request()), role: 'known' })).status
  assert.equal(await known(), 200)
  const federated = await emulator.minting.ofFederatedIdentity(server.identity('u1'))
  const { vm_name: _name, ...place } = await request(federated)
  hit('resourceManager', { kind: 'hang' }, undefined, '**/hang*')
  const ask = (i: number) => server.login({ ...place, resource_id: server.site(`hang${i}`) })
  const logins = watch(Array.from({ length: 320 }, (_, i) => ask(i)))
  // The others did not even find room to wait.
  await until(() => asked('**/hang*') === 32 && logins.ended() === 32)
  await emulator.keys.rotate({ unannounced: true })
  emulator.keys.publish()
  assert.equal(await known(), 200)
  assert.equal(logins.ended(), 32)
  assert.deepEqual(await logins.statuses(), new Set([502]))
})

test('F2: L-08: who names a key that there is not makes nobody wait longer for a provider that hangs', async () => {
  const jwt = await token()
  await server.role('known', { bound_service_principal_ids: [server.oid(server.vm('vm1'))] })
  const sent = { ...(await request(jwt)), role: 'known' }
  assert.equal((await server.login(sent)).status, 200)
  const [header = '', payload, signature] = jwt.split('.')
  const forged = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), kid: 'none' }
  await time.advance(3_599_000)
  hit('authority', { kind: 'hang' }, undefined, '**/keys')
  const attempt = Buffer.from(JSON.stringify(forged)).toString('base64url')
  const other = watch([server.login({ ...sent, jwt: `${attempt}.${payload}.${signature}` })])
  await until(() => emulator.requests.count({ service: 'authority', path: '**/keys' }) === 2)
  // The keys are an hour old now, and that look has 8 s left.
  await time.advance(2_000)
  const own = server.login(sent)
  await until(() => time.waiting().includes(3_000))
  await time.advance(3_000)
  assert.equal((await own).status, 200)
  assert.deepEqual(await other.statuses(), new Set([502]))
})

test('more groups than one question takes are asked about in turn, and no answer goes beyond them', async () => {
  const id = (i: number) => `33333333-3333-4333-8333-${String(i).padStart(12, '0')}`
  await server.configure({ check_group_overage: true })
  await server.role('many', { bound_group_ids: Array.from({ length: 45 }, (_, i) => id(i)) })
  const overage = { groups: undefined, _claim_names: { groups: 'src1' } }
  const sent = { ...(await request(await token(overage))), role: 'many' }
  const questions = () => emulator.requests.count({ service: 'graph', path: '**/checkMemberGroups' })
  const answer = (value: readonly unknown[]) => {
    emulator.faults.clear()
    hit('graph', { kind: 'merge', json: { value } as never }, undefined, '**/checkMemberGroups')
  }
  answer([id(99), 7])
  assert.equal((await server.login(sent)).status, 403)
  assert.equal(questions(), 3)
  answer([id(99), id(44).toUpperCase()])
  const mounts = (await server.call('GET', 'sys/auth')).body.data as Record<string, { accessor: string }>
  const group = await server.call('POST', 'identity/group', { name: 'not-asked', type: 'external', policies: ['ops'] })
  const alias = { name: id(99), mount_accessor: mounts['cloud/']?.accessor, canonical_id: group.body.data?.id }
  assert.equal((await server.call('POST', 'identity/group-alias', alias)).status, 200)
  const { status, body } = await server.login(sent)
  assert.equal(status, 200)
  assert.equal((body.auth as { identity_policies?: unknown }).identity_policies, undefined)
})

test('logins that wait for the cloud leave room for those that do not', async () => {
  await server.role('known', { bound_service_principal_ids: [server.oid(server.vm('vm1'))] })
  hit('resourceManager', { kind: 'hang' })
  const sent = await request()
  const logins = watch(Array.from({ length: 2_000 }, () => server.login(sent)))
  await until(() => asked() === 1 && logins.ended() === 1_000)
  assert.equal((await server.login({ ...sent, role: 'known' })).status, 200)
  // Nobody is kept out once they have ended.
  assert.deepEqual(await logins.statuses(), new Set([502]))
  emulator.faults.clear()
  await time.advance(10_000)
  assert.equal((await server.login(sent)).status, 200)
})

test('L-12: a flood of failing logins is a bounded part of the log', async () => {
  const before = server.lines.length
  const jwt = await token({ aud: 'elsewhere' })
  await time.advance(10_000)
  for (let i = 0; i < 1_000; i++) assert.equal((await logIn(jwt)).status, 403)
  assert.ok(server.lines.length - before <= 51, String(server.lines.length - before))
  await time.advance(10_000)
  await logIn(jwt)
  assert.match(server.lines.slice(-2).join(), /Further logins were refused \{"logins":950\}/)
})

test('L-12: a mount whose cloud hangs does not hold up the logins of another mount', async () => {
  await server.call('POST', 'sys/auth/slow', { type: 'cloud' })
  await server.configure({ max_retries: -1 }, 'auth/slow')
  await server.role('r', ROLE, 'auth/slow')
  const federated = await emulator.minting.ofFederatedIdentity(server.identity('u1'))
  const { vm_name: _name, ...place } = await request(federated)
  // Of no other test: what was asked before may still be on its way.
  hit('resourceManager', { kind: 'hang' }, undefined, '**/held*')
  const ask = (i: number) => server.login({ ...place, resource_id: server.site(`held${i}`) }, 'auth/slow')
  const logins = watch(Array.from({ length: 200 }, (_, i) => ask(i)))
  await until(() => asked('**/held*') >= 32)
  assert.equal((await logIn()).status, 200)
  assert.deepEqual([asked('**/held*'), logins.ended()], [32, 0], 'all of the slow cloud still wait')
  assert.deepEqual(await logins.statuses(), new Set([502]))
})
