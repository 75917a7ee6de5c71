import { strict as assert } from 'node:assert'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { type Answered, ask } from './asking.ts'
import { startEmulator } from './emulator.ts'
import { RESOURCE_HEADER } from './instance-metadata.ts'
import { SAMPLE, SAMPLE_PLAN } from './sample-plan.ts'

const emulator = await startEmulator({ plan: SAMPLE_PLAN })
after(() => emulator.close())
const { resources } = emulator
const GROUP = `${SAMPLE.group}/providers`
const COMPUTE = `${GROUP}/Microsoft.Compute`
const U1 = SAMPLE.u1
const AUDIENCE = 'https://management.azure.com/'

/** `query` is laid over a good one; an empty value leaves a parameter out. */
async function askMetadata(
  resource: string,
  query: Record<string, string> = {},
  headers: Record<string, string> = { Metadata: 'true' },
): Promise<Answered> {
  const asked = Object.entries({ 'api-version': '2018-02-01', resource: AUDIENCE, ...query })
  const search = new URLSearchParams(asked.filter(([, value]) => value !== ''))
  const url = `${emulator.origin('metadata')}/metadata/identity/oauth2/token?${search}`
  return ask(url, { headers: { [RESOURCE_HEADER]: resource, ...headers } })
}

test('a machine gets a token of its own identity, with its times as text', async () => {
  const { status, body, headers } = await askMetadata(`${COMPUTE}/virtualMachines/vm1`)
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  const claims = decodeJwt(body.access_token)
  const principal = resources.systemIdentityOf(`${COMPUTE}/virtualMachines/vm1`)
  assert.deepEqual([claims.oid, body.client_id], [principal?.id, principal?.clientId])
  assert.deepEqual([body.resource, body.token_type, body.expires_in], [AUDIENCE, 'Bearer', '86400'])
  assert.deepEqual([body.expires_on, body.not_before], [String(claims.exp), String(claims.nbf)])
})

test('an assigned identity is named by its client, by its object or as a resource', async () => {
  const principal = resources.userIdentityOf(U1) ?? assert.fail('the sample has one')
  const names = [{ client_id: principal.clientId }, { object_id: principal.id }, { msi_res_id: U1.toUpperCase() }]
  for (const query of names) {
    const { body } = await askMetadata(`${COMPUTE}/virtualMachines/vm1`, query as Record<string, string>)
    assert.equal(decodeJwt(body.access_token).oid, principal.id)
  }
  const only = await askMetadata(`${COMPUTE}/virtualMachineScaleSets/ss-u2/virtualMachines/0`)
  assert.equal(decodeJwt(only.body.access_token).oid, principal.id)
})

const REFUSED = [
  { name: 'no header', headers: {}, error: 'bad_request_102' },
  { name: 'a header of a proxy', headers: { Metadata: 'true', 'X-Forwarded-For': '192.0.2.1' }, error: 'bad_request' },
  { name: 'no version', query: { 'api-version': '' }, error: 'invalid_request' },
  { name: 'no resource', query: { resource: '' }, error: 'invalid_request' },
  { name: 'an unknown resource', query: { resource: 'https://nobody.test' }, error: 'invalid_resource' },
  { name: 'an identity that it has not', query: { client_id: SAMPLE.clientId }, error: 'invalid_request' },
  { name: 'none where there is none', machine: 'noid', error: 'invalid_request' },
]

for (const { name, headers, query, machine = 'vm1', error } of REFUSED) {
  test(`metadata refuses ${name}`, async () => {
    const given = query as Record<string, string> | undefined
    const { status, body } = await askMetadata(`${COMPUTE}/virtualMachines/${machine}`, given, headers)
    assert.deepEqual([status, body.error], [400, error])
  })
}

test('where several are assigned and none is its own, one must be named', async () => {
  const userIdentities = [U1, SAMPLE.u2]
  const { id } = emulator.machines.addVirtualMachine({
    subscription: SAMPLE.subscription,
    name: 'two',
    systemIdentity: false,
    userIdentities,
  })
  const { status, body } = await askMetadata(id)
  assert.equal(status, 400)
  assert.match(body.error_description, /^Multiple user assigned identities exist/)
})

const DESCRIBED = [
  { id: `${COMPUTE}/virtualMachines/vm1`, name: 'vm1', set: '' },
  { id: `${COMPUTE}/virtualMachines/ss-f_1a2b3c4d`, name: 'ss-f_1a2b3c4d', set: 'ss-f' },
  { id: `${COMPUTE}/virtualMachineScaleSets/ss-u/virtualMachines/1`, name: 'ss-u_1', set: 'ss-u' },
]

for (const { id, name, set } of DESCRIBED) {
  test(`metadata describes ${name}`, async () => {
    const origin = await emulator.metadataOf(id)
    const url = `${origin}/metadata/instance?api-version=2021-05-01`
    const { compute } = (await ask(url, { headers: { Metadata: 'true' } })).body
    assert.deepEqual(
      [compute.name, compute.vmScaleSetName, compute.resourceGroupName, compute.subscriptionId, compute.resourceId],
      [name, set, 'rg-app', SAMPLE.subscription, id],
    )
    assert.equal((await ask(url)).status, 400)
  })
}

test('a service that is no machine shows a header that it was told', async () => {
  const site = `${GROUP}/Microsoft.Web/sites/site1`
  const url = `${await emulator.metadataOf(site)}/msi/token?api-version=2019-08-01&resource=${AUDIENCE}`
  const { body } = await ask(url, { headers: { 'X-IDENTITY-HEADER': emulator.identityHeader } })
  const claims = decodeJwt(body.access_token)
  assert.equal(claims.xms_mirid, site.replace('resourceGroups', 'resourcegroups'))
  assert.equal(claims.xms_az_rid, undefined)
  assert.equal((await ask(url, { headers: { 'X-IDENTITY-HEADER': 'wrong' } })).status, 401)
})
