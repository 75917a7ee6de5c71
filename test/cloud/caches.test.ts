// What is kept of the cloud, for how long, and between whom it is never shared.
import { strict as assert } from 'node:assert'
import { after, before, beforeEach, test } from 'node:test'
import { SAMPLE } from '../../emulator/sample-plan.ts'
import { type CloudServer, startCloudServer } from '../fixtures/cloud-server.ts'
import { turns } from '../fixtures/turns.ts'
import { until } from '../fixtures/until.ts'

/** Resolves when the cloud may answer. */
let mayAnswer: Promise<void> = Promise.resolve()
let server: CloudServer
before(async () => {
  server = await startCloudServer({
    network: (real) => ({
      request: async (request) => {
        const answer = await real.request(request)
        await mayAnswer
        return answer
      },
    }),
  })
  await server.role('r', ROLE)
})
after(() => server.stop())
const ROLE = { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] }
let turn = 0
beforeEach(async () => {
  await server.configure({ root_password_ttl: 1_000 + ++turn })
  server.emulator.requests.clear()
})

const logIn = async (mount?: string, input = {}) => {
  const jwt = await server.emulator.minting.ofResource(server.vm('vm1'))
  const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
  return server.login({ role: 'r', jwt, ...place, ...input }, mount)
}
const counts = () => ({
  documents: server.emulator.requests.count({ service: 'authority', path: '/*/.well-known/*' }),
  keys: server.emulator.requests.count({ service: 'authority', path: '**/keys' }),
  tokens: server.emulator.requests.count({ service: 'authority', path: '**/token' }),
  machines: server.emulator.requests.count({ service: 'resourceManager', path: '**/vm1' }),
})

test('P1: many logins of one machine at once ask for everything once', async () => {
  const answers = await Promise.all(Array.from({ length: 500 }, () => logIn()))
  assert.ok(answers.every(({ status }) => status === 200))
  assert.deepEqual(counts(), { documents: 1, keys: 1, tokens: 1, machines: 1 })
})

test('P2: V-06: a machine is asked about again after 30 s, and after a change of the configuration', async () => {
  for (const [seconds, wanted] of [
    [0, 1],
    [1, 1],
    [30, 2],
  ] as const) {
    server.advance(seconds)
    assert.equal((await logIn()).status, 200)
    assert.equal(counts().machines, wanted)
  }
  await server.configure({ root_password_ttl: 1_000 + ++turn })
  await logIn()
  assert.equal(counts().machines, 3)
})

test('P2: nothing is kept of a configuration that was deleted, also where the same one is written again', async () => {
  const machine = server.emulator.resources.get(server.vm('vm1'))
  const { identity } = machine
  const again = async () => {
    await server.call('DELETE', 'auth/cloud/config')
    await server.configure()
    return (await logIn()).status
  }
  assert.equal(await again(), 200)
  delete machine.identity
  assert.equal(await again(), 403)
  Object.assign(machine, { identity })
  assert.equal(await again(), 200)
  assert.equal(counts().keys, 3)
})

test('V-06: what failed is not kept, not even that there is no such machine', async () => {
  const { resources } = server.emulator
  const machine = resources.get(server.vm('vm1'))
  server.emulator.faults.add({
    service: 'resourceManager',
    path: '**/vm1',
    action: { kind: 'status', status: 404 },
    times: 1,
  })
  assert.equal((await logIn()).status, 403)
  assert.equal((await logIn()).status, 200)
  assert.equal(machine.name, 'vm1')
})

test('P3: L-06: two mounts, and equal names in two subscriptions, share nothing', async () => {
  await server.call('POST', 'sys/auth/other', { type: 'azure' })
  await server.configure({ tenant_id: SAMPLE.otherTenant }, 'auth/other')
  await server.role(
    'r',
    { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.foreignSubscription] },
    'auth/other',
  )
  assert.equal((await logIn()).status, 200)
  // The key is the same, the tenant is not.
  assert.equal((await logIn('auth/other')).status, 403)
  const second = await server.emulator.minting.ofResource(server.vm('vm1', 'rg-app', SAMPLE.otherSubscription))
  await server.role('second', { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.otherSubscription] })
  const place = { role: 'second', jwt: second, subscription_id: SAMPLE.otherSubscription }
  assert.equal((await logIn(undefined, place)).status, 200)
  const paths = server.emulator.requests.list({ service: 'resourceManager' }).map(({ path }) => path)
  assert.equal(new Set(paths).size, 2)
})

test('P3: N-17: only letters of ASCII are one name in upper and lower case, what is kept included', async () => {
  const { resources, minting } = server.emulator
  const { id } = resources.add({ type: 'Microsoft.Web/sites', name: 'é1', systemIdentity: true })
  // Nothing but the name in the request says which resource it is.
  const jwt = await minting.ofResource(id, { claims: { xms_az_rid: undefined, xms_mirid: undefined } })
  const ask = (name: string) => logIn(undefined, { jwt, vm_name: undefined, resource_id: server.site(name) })
  const { status } = await ask('É1')
  assert.notEqual(status, 200)
  assert.equal((await ask('é1')).status, 200)
  assert.equal((await ask('É1')).status, status)
})

const explain = async () => {
  const jwt = await server.emulator.minting.ofResource(server.vm('vm1'))
  const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
  const { data } = (await server.call('POST', 'auth/cloud/explain', { role: 'r', jwt, ...place })).body
  return data as { allowed: boolean; checks: readonly { name: string; verdict: string }[] }
}

test('C11: a machine whose identity was attached just now is let in, by one fresh look', async () => {
  const machine = server.emulator.resources.get(server.vm('vm1'))
  const { identity } = machine
  const other = server.oid(server.vm('vm2'))
  const ways: readonly (() => Promise<boolean>)[] = [
    async () => (await logIn()).status === 200,
    async () => (await explain()).allowed,
  ]
  for (const [turns, isLetIn] of ways.entries()) {
    await server.configure({ root_password_ttl: 1_000 + ++turn })
    server.emulator.requests.clear()
    for (const without of [undefined, { type: 'SystemAssigned', principalId: other, tenantId: SAMPLE.tenant }]) {
      if (without === undefined) delete machine.identity
      else machine.identity = without
      server.advance(31)
      server.emulator.requests.clear()
      // What was just read is not read again.
      assert.deepEqual([await isLetIn(), counts().machines], [false, 1], `way ${turns}`)
      assert.deepEqual([await isLetIn(), counts().machines], [false, 2])
      Object.assign(machine, { identity })
      assert.deepEqual([await isLetIn(), counts().machines], [true, 3])
      // What was read anew is kept as well.
      assert.deepEqual([await isLetIn(), counts().machines], [true, 3])
    }
  }
  const { checks } = await explain()
  assert.equal(new Set(checks.map(({ name }) => name)).size, checks.length)
  assert.ok(checks.every(({ verdict }) => verdict === 'passed'))
})

test('C11: refused logins that come at once cause one fresh look together, and disturb nobody', async () => {
  assert.equal((await logIn()).status, 200)
  const stranger = await server.emulator.minting.ofResource(server.vm('vm1'), { claims: { oid: SAMPLE.otherTenant } })
  const refused = () => logIn(undefined, { jwt: stranger })
  const held = Promise.withResolvers<void>()
  mayAnswer = held.promise
  const sent = Array.from({ length: 200 }, refused)
  // However long the machine takes: all of them wait for the one look.
  await until(() => counts().machines === 2)
  await turns(1_000)
  held.resolve()
  const answers = await Promise.all(sent)
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [403])
  assert.equal(counts().machines, 2)
  // Nothing is to be found out about who is refused before the cloud is asked.
  for (let i = 0; i < 3; i++) assert.equal((await logIn(undefined, { vm_name: 'vm2' })).status, 403)
  assert.equal(counts().machines, 2)
  const fault = (status: number) =>
    server.emulator.faults.add({ service: 'resourceManager', path: '**/vm1', action: { kind: 'status', status } })
  const away = fault(500)
  assert.equal((await refused()).status, 502)
  assert.equal((await logIn()).status, 200, 'what is kept serves on')
  away()
  assert.equal((await refused()).status, 403)
  const gone = fault(404)
  assert.match(String((await refused()).body.errors), /resource not found/)
  assert.equal((await logIn()).status, 403, 'that it is gone is known now')
  gone()
  assert.equal((await logIn()).status, 200)
})

test('P4: L-14: an identity that was taken from its machine lets nobody in after 30 s', async () => {
  const machine = server.emulator.resources.get(server.vm('vm1'))
  const { identity } = machine
  assert.equal((await logIn()).status, 200)
  delete machine.identity
  server.advance(31)
  assert.equal((await logIn()).status, 403)
  Object.assign(machine, { identity })
})

test('L-08: a key that was withdrawn signs nothing an hour later, where the provider answers', async () => {
  const jwt = await server.emulator.minting.ofResource(server.vm('vm1'))
  const keys = server.emulator.keys.published
  assert.equal((await logIn(undefined, { jwt })).status, 200)
  const [, other] = keys
  assert.ok(other !== undefined)
  server.emulator.keys.replacePublished([other])
  server.advance(59 * 60)
  assert.equal((await logIn(undefined, { jwt })).status, 200)
  server.advance(19 * 3600)
  const answers = await Promise.all(Array.from({ length: 20 }, () => logIn(undefined, { jwt })))
  for (const { status, body } of answers) {
    assert.equal(status, 403)
    assert.match(String(body.errors), /no key of that name/)
  }
  server.emulator.keys.replacePublished(keys)
})

test('L-08: the same of the documents that say where the keys are', async () => {
  const jwt = await server.emulator.minting.ofResource(server.vm('vm1'), { lifetimeSeconds: 3 * 86_400 })
  assert.equal((await logIn(undefined, { jwt })).status, 200)
  server.advance(25 * 3600)
  const { authority } = server.emulator.addresses('http')
  const undo = server.emulator.faults.add({
    service: 'authority',
    path: '/*/.well-known/*',
    action: { kind: 'merge', json: { issuer: `${authority}/${SAMPLE.otherTenant}/` } },
  })
  const { status, body } = await logIn(undefined, { jwt })
  undo()
  assert.equal(status, 403)
  assert.match(String(body.errors), /of another tenant/)
})

test('F2: old keys and documents serve where the provider is down, for a day, with one look in 30 s', async () => {
  const jwt = await server.emulator.minting.ofResource(server.vm('vm1'), { lifetimeSeconds: 5 * 86_400 })
  await logIn(undefined, { jwt })
  const undo = ['/*/.well-known/*', '**/keys'].map((path) =>
    server.emulator.faults.add({ service: 'authority', path, action: { kind: 'status', status: 500 } }),
  )
  server.advance(24 * 3600 + 60)
  server.emulator.requests.clear()
  assert.equal((await logIn(undefined, { jwt })).status, 200)
  // With its repetitions.
  const look = [counts().documents, counts().keys] as const
  for (let i = 0; i < 5; i++) assert.equal((await logIn(undefined, { jwt })).status, 200)
  assert.deepEqual([counts().documents, counts().keys], look)
  assert.ok(look[0] > 0 && look[0] <= 4 && look[1] === look[0], String(look))
  server.advance(31)
  assert.equal((await logIn(undefined, { jwt })).status, 200)
  assert.deepEqual([counts().documents, counts().keys], [2 * look[0], 2 * look[1]])
  server.advance(2 * 3600)
  assert.equal((await logIn(undefined, { jwt })).status, 502)
  for (const each of undo) each()
  assert.equal((await logIn(undefined, { jwt })).status, 200)
})

test('L-08: keys that could not be read are no word on the key: 502 while they are not asked for again', async () => {
  assert.equal((await logIn()).status, 200)
  const before = server.emulator.keys.published
  const { minting, keys, faults } = server.emulator
  await keys.rotate({ unannounced: true })
  keys.publish()
  const jwt = await minting.ofResource(server.vm('vm1'))
  const undo = faults.add({ service: 'authority', path: '**/keys', action: { kind: 'status', status: 500 } })
  for (const seconds of [0, 1, 5]) {
    server.advance(seconds)
    assert.equal((await logIn(undefined, { jwt })).status, 502, `after ${seconds} s`)
  }
  undo()
  assert.equal((await logIn(undefined, { jwt })).status, 502)
  server.advance(31)
  assert.equal((await logIn(undefined, { jwt })).status, 200)
  assert.ok(before.length < keys.published.length)
})

test('a token of ours is used until shortly before its end', async () => {
  await logIn()
  server.advance(40 * 60)
  await logIn()
  assert.equal(counts().tokens, 1)
  server.advance(16 * 60)
  await logIn()
  assert.equal(counts().tokens, 2)
})

test('the version of a type is asked for once, and kept for each type by itself', async () => {
  const { requests } = server.emulator
  const token = await server.emulator.minting.ofFederatedIdentity(server.identity('u1'))
  const site = async (name: string) =>
    logIn(undefined, { jwt: token, vm_name: '', resource_id: server.site(name) }).then(({ status }) => status)
  const asked = () => requests.count({ service: 'resourceManager', path: '/subscriptions/*/providers/Microsoft.Web' })
  await Promise.all([site('site1'), site('none1')])
  assert.equal(asked(), 1)
  server.advance(31)
  await site('site1')
  assert.equal(asked(), 1)
  await logIn(undefined, { jwt: token, vm_name: '', resource_id: `${server.site('site1')}/slots/s` })
  assert.equal(asked(), 2)
})

test('V-06: that a provider names no version of a type is not kept for a day', async () => {
  const jwt = await server.emulator.minting.ofResource(server.site('site1'))
  const provider = '/subscriptions/*/providers/Microsoft.Web'
  const versions = () => {
    const sites = server.emulator.requests.list({ service: 'resourceManager', path: '**/sites/site1' })
    return sites.map(({ query }) => query['api-version'])
  }
  const ask = () => logIn(undefined, { jwt, vm_name: '', resource_id: server.site('site1') })
  const undo = server.emulator.faults.add({
    service: 'resourceManager',
    path: provider,
    action: { kind: 'merge', json: { resourceTypes: [] } },
  })
  await ask()
  undo()
  server.advance(31)
  await ask()
  assert.equal(new Set(versions()).size, 2, String(versions()))
})
