// The vendor's own libraries for Node, unmodified, over TLS: where they are content, so is a client written by hand.
import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { ComputeManagementClient } from '@azure/arm-compute'
import { ManagedServiceIdentityClient } from '@azure/arm-msi'
import { ResourceManagementClient } from '@azure/arm-resources'
import {
  ClientSecretCredential,
  ManagedIdentityCredential,
  type TokenCredential,
  WorkloadIdentityCredential,
} from '@azure/identity'
import { decodeJwt } from 'jose'
import { startEmulator } from '../../../emulator/emulator.ts'
import { SAMPLE, SAMPLE_PLAN } from '../../../emulator/sample-plan.ts'

const emulator = await startEmulator({ plan: SAMPLE_PLAN, issuerScheme: 'https' })
const before = getCACertificates('default')
setDefaultCACertificates([...before, emulator.authorityCertificate])
after(async () => {
  setDefaultCACertificates(before)
  await emulator.close()
})

const { authority, resourceManager } = emulator.addresses('https')
const SCOPE = 'https://management.core.windows.net//.default'
const GROUP = SAMPLE.group
const U1 = SAMPLE.u1
/** No retries: what is refused shows at once. */
const CLIENT = { endpoint: resourceManager, credentialScopes: [SCOPE], retryOptions: { maxRetries: 0 } }

function bySecret(secret: string = SAMPLE.clientSecret): TokenCredential {
  return new ClientSecretCredential(SAMPLE.tenant, SAMPLE.clientId, secret, {
    authorityHost: authority,
    disableInstanceDiscovery: true,
  })
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

test('the SDK gets a token by secret, for the audience with its own slash', async () => {
  const { token, expiresOnTimestamp } = (await bySecret().getToken(SCOPE)) ?? assert.fail('no token')
  const claims = decodeJwt(token)
  assert.equal(claims.aud, 'https://management.core.windows.net/')
  assert.equal(claims.iss, `${authority}/${SAMPLE.tenant}/`)
  assert.equal(claims.appid, SAMPLE.clientId)
  assert.ok(Math.abs(expiresOnTimestamp - Date.now() - 3599_000) < 60_000)
})

test('the SDK reads a wrong secret out of the refusal', async () => {
  await assert.rejects(async () => bySecret('wrong').getToken(SCOPE), /AADSTS7000215/)
})

test('the SDK gets machines, and lists them over pages', async () => {
  emulator.resourceSettings.pageSize = 2
  const client = new ComputeManagementClient(bySecret(), SAMPLE.subscription, CLIENT)
  const machine = await client.virtualMachines.get('rg-app', 'vm1')
  assert.equal(machine.id, `${GROUP}/providers/Microsoft.Compute/virtualMachines/vm1`)
  assert.equal(machine.identity?.type, 'SystemAssigned, UserAssigned')
  assert.deepEqual(Object.keys(machine.identity?.userAssignedIdentities ?? {}), [U1])
  const names = (await collect(client.virtualMachines.list('rg-app'))).map(({ name }) => name)
  assert.deepEqual(names.sort(), ['111web', 'nilp', 'noid', 'ss-f_1a2b3c4d', 'ss-f_fake', 'vm1', 'vm1x', 'vm2'])
  assert.equal(emulator.requests.count({ path: '**/virtualmachines' }), 4)
  await assert.rejects(client.virtualMachines.get('rg-app', 'vm9'), { code: 'ResourceNotFound', statusCode: 404 })
  await assert.rejects(client.virtualMachines.get('rg-none', 'vm9'), { code: 'ResourceGroupNotFound' })
})

test('the SDK gets scale sets of both kinds and lists the members of a uniform one', async () => {
  emulator.resourceSettings.pageSize = 2
  const client = new ComputeManagementClient(bySecret(), SAMPLE.subscription, CLIENT)
  const uniform = await client.virtualMachineScaleSets.get('rg-app', 'ss-u')
  assert.equal(uniform.orchestrationMode, 'Uniform')
  const flexible = await client.virtualMachineScaleSets.get('rg-app', 'ss-f')
  assert.equal(flexible.orchestrationMode, 'Flexible')
  const sets = await collect(client.virtualMachineScaleSets.list('rg-app'))
  assert.deepEqual(sets.map(({ name }) => name).sort(), ['ss-f', 'ss-u', 'ss-u2'])
  const members = await collect(client.virtualMachineScaleSetVMs.list('rg-app', 'ss-u'))
  assert.deepEqual(members.map(({ instanceId }) => instanceId).sort(), ['0', '1', '2'])
  const member = await client.virtualMachines.get('rg-app', 'ss-f_1a2b3c4d')
  assert.equal(member.virtualMachineScaleSet?.id, flexible.id)
})

test('the SDK gets and lists user-assigned identities', async () => {
  const client = new ManagedServiceIdentityClient(bySecret(), SAMPLE.subscription, CLIENT)
  const identity = await client.userAssignedIdentities.get('rg-id', 'u1')
  assert.equal(identity.principalId, emulator.resources.userIdentityOf(U1)?.id)
  const all = await collect(client.userAssignedIdentities.listByResourceGroup('rg-id'))
  assert.deepEqual(
    all.map(({ name }) => name),
    ['u1', 'u2'],
  )
})

test('the SDK gets a provider and a resource by its id', async () => {
  const client = new ResourceManagementClient(bySecret(), SAMPLE.subscription, CLIENT)
  const provider = await client.providers.get('Microsoft.Web')
  const version = provider.resourceTypes?.find(({ resourceType }) => resourceType === 'sites')?.apiVersions?.[0]
  assert.ok(version)
  const site = await client.resources.getById(`${GROUP}/providers/Microsoft.Web/sites/site1`, version)
  assert.equal(site.location, 'East US')
  assert.equal(site.identity?.type, 'SystemAssigned')
})

test('the SDK waits as Retry-After says, and then succeeds', async () => {
  emulator.faults.add({ service: 'resourceManager', times: 1, action: { kind: 'throttle', retryAfter: '1' } })
  const patient = { ...CLIENT, retryOptions: { maxRetries: 1 } }
  const client = new ComputeManagementClient(bySecret(), SAMPLE.subscription, patient)
  const start = performance.now()
  assert.equal((await client.virtualMachines.get('rg-app', 'vm2')).location, 'westus')
  assert.ok(performance.now() - start >= 900)
})

test('the SDK gets tokens of a managed identity from the metadata of its machine', async (context) => {
  const machine = `${GROUP}/providers/Microsoft.Compute/virtualMachines/vm1`
  process.env.AZURE_POD_IDENTITY_AUTHORITY_HOST = await emulator.metadataOf(machine)
  context.after(() => delete process.env.AZURE_POD_IDENTITY_AUTHORITY_HOST)
  const own = decodeJwt((await new ManagedIdentityCredential().getToken('https://management.azure.com/.default')).token)
  assert.equal(own.xms_mirid, machine.replace('resourceGroups', 'resourcegroups'))
  assert.equal(own.iss, `${authority}/${SAMPLE.tenant}/`)
  const clientId = emulator.resources.userIdentityOf(U1)?.clientId ?? ''
  const assigned = new ManagedIdentityCredential({ clientId })
  const claims = decodeJwt((await assigned.getToken('https://management.azure.com/.default')).token)
  assert.equal(claims.xms_mirid, U1.replace('resourceGroups', 'resourcegroups'))
  assert.equal(claims.xms_az_rid, own.xms_mirid)
})

test('the SDK trades the token of a pod', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'pod-'))
  context.after(() => rmSync(directory, { recursive: true }))
  const principal = emulator.resources.userIdentityOf(U1) ?? assert.fail('no identity')
  const subject = 'system:serviceaccount:default:app'
  const { issuer } = emulator.cluster
  principal.federatedCredentials.push({ issuer, subject, audience: 'api://AzureADTokenExchange' })
  const tokenFilePath = join(directory, 'token')
  writeFileSync(tokenFilePath, await emulator.cluster.token(subject))
  const credential = new WorkloadIdentityCredential({
    authorityHost: authority,
    disableInstanceDiscovery: true,
    tenantId: SAMPLE.tenant,
    clientId: principal.clientId,
    tokenFilePath,
  })
  const claims = decodeJwt((await credential.getToken('https://management.azure.com/.default')).token)
  assert.equal(claims.oid, principal.id)
  assert.equal(claims.xms_mirid, U1.replace('resourceGroups', 'resourcegroups'))
  assert.equal(claims.xms_az_rid, undefined)
})
