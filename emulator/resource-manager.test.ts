import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, beforeEach, test } from 'node:test'
import { type Answered, ask, askToken } from './asking.ts'
import { startEmulator } from './emulator.ts'
import { SAMPLE, SAMPLE_PLAN } from './sample-plan.ts'

const emulator = await startEmulator({ plan: SAMPLE_PLAN })
after(() => emulator.close())
beforeEach(() => emulator.reset())
const { resourceManager, authority } = emulator.addresses()
const SUBSCRIPTION = `/subscriptions/${SAMPLE.subscription}`
const GROUP = SAMPLE.group
const MACHINES = 'Microsoft.Compute/virtualMachines'
const VM1 = SAMPLE.vm1

async function token(): Promise<string> {
  return (await askToken(emulator)).body.access_token
}

async function read(path: string, query = 'api-version=2023-07-01'): Promise<Answered> {
  return ask(`${resourceManager}${path}?${query}`, { token: await token() })
}

test('ids are compared without regard to letter case, and shown as they were made', async () => {
  const { status, body, headers } = await read(VM1.toUpperCase())
  assert.equal(status, 200)
  assert.deepEqual([body.id, body.type, body.location], [VM1, MACHINES, 'eastus'])
  assert.equal(body.identity.principalId, emulator.resources.systemIdentityOf(VM1)?.id)
  assert.match(headers.get('x-ms-request-id') ?? '', /^[0-9a-f-]{36}$/)
  const remaining = Number(headers.get('x-ms-ratelimit-remaining-subscription-reads'))
  const next = await read(VM1)
  assert.equal(Number(next.headers.get('x-ms-ratelimit-remaining-subscription-reads')), remaining - 1)
})

test('records are shown in the odd forms that they have', async () => {
  const none = await read(`${GROUP}/providers/${MACHINES}/noid`)
  assert.equal(none.body.identity, undefined)
  const bare = await read(`${GROUP}/providers/${MACHINES}/ss-f_1a2b3c4d`)
  assert.deepEqual(Object.values(bare.body.identity.userAssignedIdentities), [{}])
  assert.equal(bare.body.identity.principalId, undefined)
  assert.match(bare.body.properties.virtualMachineScaleSet.id, /virtualMachineScaleSets\/ss-f$/)
  emulator.resources.get(VM1).identity = { type: 'None', userAssignedIdentities: null }
  assert.deepEqual((await read(VM1)).body.identity, { type: 'None', userAssignedIdentities: null })
})

const REFUSED: readonly { name: string; path: string; query?: string; status: number; code: string }[] = [
  { name: 'an unknown machine', path: `${VM1}9`, status: 404, code: 'ResourceNotFound' },
  { name: 'an unknown group', path: VM1.replace('rg-app', 'rg-none'), status: 404, code: 'ResourceGroupNotFound' },
  {
    name: 'an unknown subscription',
    path: VM1.replace(SAMPLE.subscription, SAMPLE.tenant),
    status: 404,
    code: 'SubscriptionNotFound',
  },
  {
    name: 'the subscription of another tenant',
    path: VM1.replace(SAMPLE.subscription, SAMPLE.foreignSubscription),
    status: 401,
    code: 'InvalidAuthenticationTokenTenant',
  },
  { name: 'no version', path: VM1, query: '', status: 400, code: 'MissingApiVersionParameter' },
  {
    name: 'a version that is none',
    path: VM1,
    query: 'api-version=1',
    status: 400,
    code: 'InvalidApiVersionParameter',
  },
  {
    name: 'a version of another type',
    path: VM1,
    query: 'api-version=2018-11-30',
    status: 400,
    code: 'NoRegisteredProviderFound',
  },
  { name: 'a path to nothing', path: '/tenants', status: 404, code: 'InvalidResourceType' },
  {
    name: 'an unknown provider',
    path: `${SUBSCRIPTION}/providers/Contoso.Nothing`,
    query: 'api-version=2021-04-01',
    status: 404,
    code: 'InvalidResourceNamespace',
  },
]

for (const { name, path, query, status, code } of REFUSED) {
  test(`the resource manager refuses ${name}`, async () => {
    const answer = await read(path, query)
    assert.equal(answer.status, status, JSON.stringify(answer.body))
    assert.equal(answer.body.error.code, code)
    if (status === 401)
      assert.match(answer.headers.get('www-authenticate') ?? '', /authorization_uri=".*invalid_token"/)
  })
}

const TOKENS: readonly { name: string; token: () => Promise<string | undefined>; code: string }[] = [
  { name: 'none', token: async () => undefined, code: 'AuthenticationFailed' },
  { name: 'garbage', token: async () => 'a.b.c', code: 'InvalidAuthenticationToken' },
  {
    name: 'one by another key',
    token: () => emulator.minting.ofResource(VM1, { key: 'foreign' }),
    code: 'InvalidAuthenticationToken',
  },
  {
    name: 'one of another issuer',
    token: () => emulator.minting.ofResource(VM1, { claims: { iss: `${authority}/${SAMPLE.otherTenant}/` } }),
    code: 'InvalidAuthenticationToken',
  },
  {
    name: 'one that has expired',
    token: () => emulator.minting.ofResource(VM1, { lifetimeSeconds: -1 }),
    code: 'ExpiredAuthenticationToken',
  },
  {
    name: 'one for graph',
    token: () => emulator.minting.ofResource(VM1, { audience: 'https://graph.microsoft.com' }),
    code: 'InvalidAuthenticationTokenAudience',
  },
]

for (const { name, token: make, code } of TOKENS) {
  test(`as a token the resource manager refuses ${name}`, async () => {
    const value = await make()
    const options = value === undefined ? {} : { token: value }
    const { status, body } = await ask(`${resourceManager}${VM1}?api-version=2023-07-01`, options)
    assert.deepEqual([status, body.error.code], [401, code])
  })
}

test('only who was granted it may read, and only below the scope', async () => {
  const principal = emulator.resources.systemIdentityOf(VM1) ?? assert.fail('vm1 has an identity')
  const own = await emulator.minting.ofResource(VM1)
  const status = async (path: string): Promise<number> => {
    return (await ask(`${resourceManager}${path}?api-version=2023-07-01`, { token: own })).status
  }
  assert.equal(await status(VM1), 403)
  emulator.resources.grant(principal.id, GROUP, ['Microsoft.Compute/virtualMachineScaleSets/*/read'])
  assert.equal(await status(VM1), 403)
  emulator.resources.grant(principal.id, GROUP.toUpperCase(), ['Microsoft.Compute/virtualMachines/*/read'])
  assert.equal(await status(VM1), 200)
  assert.equal(await status(`${GROUP}/providers/${MACHINES}`), 200)
  assert.equal(await status(VM1.replace('rg-app', 'rg-other')), 403)
  assert.equal(await status(VM1.replace('rg-app', 'rg-app-evil')), 403)
})

test('lists come in pages, each named by the one before', async () => {
  emulator.resourceSettings.pageSize = 2
  const names: string[] = []
  let url = `${resourceManager}${GROUP}/providers/${MACHINES}?api-version=2023-07-01`
  let pages = 0
  for (; url !== ''; pages++) {
    const { body } = await ask(url, { token: await token() })
    assert.ok(body.value.length <= 2)
    names.push(...body.value.map(({ name }: { name: string }) => name))
    url = body.nextLink ?? ''
    assert.ok(url === '' || url.startsWith(`${resourceManager}${GROUP}/`))
  }
  assert.equal(pages, 4)
  assert.deepEqual(names, ['vm1', 'vm2', 'vm1x', 'noid', 'nilp', '111web', 'ss-f_fake', 'ss-f_1a2b3c4d'])
  const all = await read(`${SUBSCRIPTION}/providers/${MACHINES}`)
  assert.equal(all.body.value.length, 2)
})

test('the members of a uniform set are within it', async () => {
  const { body } = await read(`${GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/ss-u/virtualMachines`)
  assert.deepEqual(
    body.value.map(({ instanceId }: { instanceId: string }) => instanceId),
    ['0', '1', '2'],
  )
  const set = emulator.resources.get(`${GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/ss-f`)
  assert.deepEqual(
    emulator.machines.membersOf(set).map(({ name }) => name),
    ['ss-f_1a2b3c4d'],
  )
})

test('a provider says which versions its types have, newest first', async () => {
  const { body } = await read(`${SUBSCRIPTION}/providers/microsoft.web`, 'api-version=2021-04-01')
  assert.equal(body.namespace, 'Microsoft.Web')
  const { apiVersions } = body.resourceTypes.find(
    ({ resourceType }: { resourceType: string }) => resourceType === 'sites',
  )
  assert.deepEqual(apiVersions, apiVersions.toSorted().reverse())
  const { status } = await read(`${GROUP}/providers/Microsoft.Web/sites/site1`, `api-version=${apiVersions[0]}`)
  assert.equal(status, 200)
})

/** Sends the path as it is: fetch would normalise it. */
async function sendRaw(path: string, bearer: string): Promise<number | undefined> {
  const { hostname, port } = new URL(resourceManager)
  const sent = request({ hostname, port, path: `${path}?api-version=2023-07-01` })
  sent.setHeader('Authorization', `Bearer ${bearer}`).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode
}

const DISGUISED = [
  `${GROUP}/providers/../providers/${MACHINES}/vm1`,
  `${GROUP}/./providers/${MACHINES}/vm1`,
  `${GROUP}/providers/${MACHINES}/%2e%2e/vm1`,
  `${GROUP}//providers/${MACHINES}/vm1`,
  `${GROUP}/providers/Microsoft.Compute%2fvirtualMachines/vm1`,
]

for (const path of DISGUISED) {
  test(`a path in disguise is refused and remembered: ${path.slice(GROUP.length)}`, async () => {
    assert.equal(await sendRaw(path, await token()), 400)
    const [seen] = emulator.requests.list({ service: 'resourceManager' })
    assert.deepEqual([seen?.path, seen?.status], [path, 400])
  })
}
