// The checks of the threat list for cloud logins, by id. What logs in is a machine of each shape, and each of its facts
// is made wrong while the others stay right.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { SAMPLE } from '../../emulator/sample-plan.ts'
import type { Claims } from '../../emulator/tokens.ts'
import { isOwnNetwork } from '../../src/lib/own-network.ts'
import { type CloudServer, startCloudServer } from '../fixtures/cloud-server.ts'

let server: CloudServer
before(async () => {
  server = await startCloudServer()
  const bound = {
    bound_service_principal_ids: '*',
    bound_subscription_ids: [SAMPLE.subscription, SAMPLE.otherSubscription],
  }
  await server.role('any', bound)
})
after(() => server.stop())

type Shape = {
  readonly name: string
  readonly field: 'vm_name' | 'vmss_name' | 'resource_id'
  readonly right: string
  readonly wrong: string
  readonly token: (claims?: Claims) => Promise<string>
}

function shapes(): readonly Shape[] {
  const { minting } = server.emulator
  const { vm, set, site, identity } = server
  const of =
    (id: string, user?: string) =>
    (claims: Claims = {}) =>
      minting.ofResource(id, { claims, ...(user === undefined ? {} : { userIdentity: identity(user) }) })
  return [
    { name: 'system-assigned', field: 'vm_name', right: 'vm1', wrong: 'vm1x', token: of(vm('vm1')) },
    { name: 'user-assigned', field: 'vm_name', right: 'vm1', wrong: 'vm1x', token: of(vm('vm1'), 'u1') },
    { name: 'uniform set', field: 'vmss_name', right: 'ss-u', wrong: 'ss-u2', token: of(set('ss-u'), 'u1') },
    { name: 'flexible set', field: 'vmss_name', right: 'ss-f', wrong: 'ss-u', token: of(vm('ss-f_1a2b3c4d'), 'u2') },
    {
      name: 'resource_id',
      field: 'resource_id',
      right: site('site1'),
      wrong: site('site1').replace('site1', 'site2'),
      token: of(site('site1')),
    },
  ]
}

const requestOf = async ({ field, right, token }: Shape, claims?: Claims) => ({
  role: 'any',
  jwt: await token(claims),
  subscription_id: SAMPLE.subscription,
  resource_group_name: 'rg-app',
  [field]: right,
})

test('L-01, V-01, V-02, V-03: each fact of each shape, wrong while the others are right', async () => {
  for (const shape of shapes()) {
    const request = await requestOf(shape)
    assert.equal((await server.login(request)).status, 200, shape.name)
    const wrongs = [
      { subscription_id: SAMPLE.otherSubscription },
      { resource_group_name: 'rg-other' },
      { resource_group_name: 'rg-ap' },
      { [shape.field]: shape.wrong },
    ]
    for (const wrong of wrongs) {
      const { status } = await server.login({ ...request, ...wrong })
      assert.ok([400, 403].includes(status), `${shape.name} ${JSON.stringify(wrong)}: ${status}`)
    }
  }
})

test('L-02: each shape in odd cases, in request, claims and role', async () => {
  const odd = (text: string): string =>
    text.replaceAll(/[a-z]/g, (letter, at) => (at % 2 ? letter.toUpperCase() : letter))
  const roleOf = { bound_service_principal_ids: '*', bound_resource_groups: ['rG-aPP'] }
  await server.role('odd', roleOf)
  for (const shape of shapes()) {
    const request = await requestOf(shape)
    const input = Object.fromEntries(
      Object.entries(request).map(([name, text]) => [name, ['jwt', 'role'].includes(name) ? text : odd(text)]),
    )
    assert.equal((await server.login({ ...input, role: 'ODD' })).status, 200, shape.name)
  }
})

test('V-01: the two claims do not help each other out', async () => {
  const [shape] = shapes()
  assert.ok(shape !== undefined)
  // One names the machine, the other the group that the request says.
  const request = await requestOf(shape, {
    xms_az_rid: server.vm('vm1', 'rg-other'),
    xms_mirid: server.vm('vm1'),
  })
  const { status, body } = await server.login(request)
  assert.equal(status, 403)
  assert.match(String(body.errors), /claim does not match resource_group_name/)
})

test('V-03: a token that names another resource than resource_id', async () => {
  const jwt = await server.emulator.minting.ofResource(server.vm('vm2'))
  const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app' }
  const { status } = await server.login({ role: 'any', jwt, ...place, resource_id: server.vm('vm1') })
  assert.equal(status, 403)
})

test('V-05: where no resource is named, the answer says what is missing', async () => {
  const [shape] = shapes()
  assert.ok(shape !== undefined)
  const { vm_name: _, ...request } = (await requestOf(shape)) as Record<string, unknown>
  const { status, body } = await server.login(request)
  assert.deepEqual(
    [status, body.errors],
    [403, ['permission denied: one of vm_name, vmss_name or resource_id is required']],
  )
})

test('L-05: what a token says of a machine counts only where the cloud says so too', async () => {
  const [shape] = shapes()
  assert.ok(shape !== undefined)
  // Signed by the directory, for an identity that the machine does not have.
  const request = await requestOf(shape, { oid: server.oid(server.vm('vm2')), appid: undefined })
  assert.equal((await server.login(request)).status, 403)
  assert.ok(server.emulator.requests.count({ service: 'resourceManager' }) > 0)
})

test('L-07: every form of aud and groups', async () => {
  const [shape] = shapes()
  assert.ok(shape !== undefined)
  const own = 'https://management.azure.com/'
  for (const [aud, wanted] of [
    [own, 200],
    [[own], 200],
    [[own, 'other'], 200],
    [[], 403],
    [7, 403],
    [{ [own]: true }, 403],
    [undefined, 403],
    [null, 403],
    [`${own} `, 403],
    [own.toUpperCase(), 403],
    [[[own]], 403],
  ] as const) {
    const { status } = await server.login(await requestOf(shape, { aud } as Claims))
    assert.equal(status, wanted, JSON.stringify(aud))
  }
  await server.role('grouped', { bound_group_ids: ['g1'] })
  for (const [groups, wanted] of [
    [['g1'], 200],
    [['G1'], 200],
    ['g1', 403],
    [[7], 403],
    [{ g1: true }, 403],
    [null, 403],
    [Array.from({ length: 2_000 }, (_, i) => `g${i}`), 403],
  ] as const) {
    const { status } = await server.login({ ...(await requestOf(shape, { groups } as Claims)), role: 'grouped' })
    assert.equal(status, wanted, JSON.stringify(groups).slice(0, 40))
  }
})

test('L-08: headers that ask for more', async () => {
  for (const [header, wanted] of [
    [{ crit: ['exp'] }, 403],
    [{ b64: false, crit: ['b64'] }, 403],
    [{ typ: 'JWE' }, 403],
    [{ typ: undefined }, 200],
    [{ alg: 'rs256' }, 403],
    [{ alg: ['RS256'] }, 403],
    [{ kid: ['a'] }, 403],
    [{ kid: 'x'.repeat(300) }, 403],
    [{ x5c: ['AAAA'], x5u: 'http://127.0.0.1:1/' }, 200],
  ] as const) {
    const jwt = await server.emulator.minting.ofResource(server.vm('vm1'), { header: header as Claims })
    const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
    assert.equal((await server.login({ role: 'any', jwt, ...place })).status, wanted, JSON.stringify(header))
  }
})

test('L-09, L-10: what is too long, or encrypted, is refused without a question to the cloud', async () => {
  const place = { role: 'any', subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
  const asked = server.emulator.requests.count()
  for (const jwt of ['a'.repeat(32_769), '.'.repeat(100_000), 'a.b.c.d.e', `${'a.'.repeat(16_000)}a`])
    assert.equal((await server.login({ ...place, jwt })).status, 400)
  assert.equal(server.emulator.requests.count(), asked)
})

test('L-11: no name of the vendor’s clouds leads into this machine or to its link', () => {
  for (const address of [
    '127.0.0.1',
    '127.1.2.3',
    '169.254.169.254',
    '0.0.0.0',
    '::1',
    '::',
    'fe80::1',
    '::ffff:127.0.0.1',
  ])
    assert.ok(isOwnNetwork(address), address)
  for (const address of ['20.190.128.0', '10.0.0.4', '2603:1030::1']) assert.ok(!isOwnNetwork(address), address)
})

test('V-07: no answer has a word of the cloud, of the configuration, or an odd character of the caller', async () => {
  await server.configure({ resource: 'https://configured.example/' })
  const odd = 'https://x\u202e\u0000\n"<b>'
  const jwt = await server.emulator.minting.ofResource(server.vm('vm1'), { claims: { aud: odd } })
  const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
  const { body } = await server.login({ role: 'any', jwt, ...place })
  const text = String((body.errors as string[])[0])
  assert.match(text, /audience: "https:\/\/x\?\?\?'<b>" is not/)
  assert.ok(!text.includes('configured.example'))
  await server.configure()
})

test('of many audiences of a token five are told', async () => {
  const aud = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const jwt = await server.emulator.minting.ofResource(server.vm('vm1'), { claims: { aud } })
  const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
  const { status, body } = await server.login({ role: 'any', jwt, ...place })
  assert.equal(status, 403)
  assert.match(String((body.errors as string[])[0]), /audience: "a", "b", "c", "d", "e" is not the resource/)
})
