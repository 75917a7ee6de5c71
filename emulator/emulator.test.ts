import { strict as assert } from 'node:assert'
import { after, test } from 'node:test'
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose'
import { startEmulator } from './emulator.ts'

const emulator = await startEmulator()
after(() => emulator.close())
const { authority, resourceManager, graph } = emulator.addresses('http')
const tenant = emulator.directory.firstTenant
const identity = emulator.resources.addUserIdentity({ name: 'u1', resourceGroup: 'rg-id' })
const machine = emulator.machines.addVirtualMachine({ name: 'vm1', userIdentities: [identity.id] })
const server = emulator.directory.addApplication({
  displayName: 'key server',
  secret: 'first-secret',
  permissions: ['Application.ReadWrite.OwnedBy', 'GroupMember.Read.All'],
  ownsItself: true,
})
emulator.resources.grant(server.principal.id, machine.id.split('/').slice(0, 3).join('/'))

async function getJson(
  url: string,
  init: RequestInit = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(url, init)
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) }
}

async function getToken(scope: string, secret = 'first-secret'): Promise<string> {
  const { status, body } = await getJson(`${authority}/${tenant.id}/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: server.clientId,
      client_secret: secret,
      scope,
    }),
  })
  assert.equal(status, 200, JSON.stringify(body))
  return String(body.access_token)
}

test('a machine token verifies with the keys that discovery names, and says which machine asked', async () => {
  const { body } = await getJson(`${authority}/example.test/.well-known/openid-configuration`)
  assert.equal(body.issuer, `${authority}/${tenant.id}/`)
  const keys = await getJson(String(body.jwks_uri))
  const token = await emulator.minting.ofResource(machine.id)
  const { payload, protectedHeader } = await jwtVerify(
    token,
    createLocalJWKSet(keys.body as unknown as JSONWebKeySet),
    {
      issuer: String(body.issuer),
      audience: 'https://management.azure.com/',
      algorithms: ['RS256'],
    },
  )
  assert.equal(protectedHeader.kid, emulator.keys.current.kid)
  assert.equal(payload.oid, emulator.resources.systemIdentityOf(machine.id)?.id)
  assert.equal(payload.xms_mirid, machine.id.replace('resourceGroups', 'resourcegroups'))
  assert.equal(payload.xms_az_rid, undefined)
  const other = decodeJwt(await emulator.minting.ofResource(machine.id, { userIdentity: identity.id }))
  assert.equal(other.xms_az_rid, payload.xms_mirid)
  assert.equal(other.oid, identity.properties.principalId)
})

test('a token got by secret reads the machine', async () => {
  const token = await getToken('https://management.core.windows.net//.default')
  const { status, body } = await getJson(`${resourceManager}${machine.id.toUpperCase()}?api-version=2023-07-01`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.id, machine.id)
})

test('graph says which groups a machine is in', async () => {
  const principal = emulator.resources.systemIdentityOf(machine.id)
  assert.ok(principal)
  emulator.directory.join(principal.id, 'g-1', 'g-2')
  const token = await getToken(`${graph}/.default`)
  const { status, body } = await getJson(`${graph}/v1.0/servicePrincipals/${principal.id}/checkMemberGroups`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ groupIds: ['g-2', 'g-3'] }),
  })
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(body.value, ['g-2'])
})
