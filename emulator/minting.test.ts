import { strict as assert } from 'node:assert'
import { generateKeyPairSync } from 'node:crypto'
import { after, test } from 'node:test'
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
} from 'jose'
import { realWorld } from '../src/lib/world.ts'
import { MOST_GROUPS } from './access-tokens.ts'
import { ask } from './asking.ts'
import { startEmulator } from './emulator.ts'
import { SAMPLE, SAMPLE_PLAN } from './sample-plan.ts'
import type { TokenForm } from './tokens.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 }
const emulator = await startEmulator({ plan: SAMPLE_PLAN, world: { ...realWorld(), clock } })
after(() => emulator.close())
const { authority, graph } = emulator.addresses()
const { minting, keys, directory, resources } = emulator
const GROUP = `${SAMPLE.group}/providers`
const VM1 = SAMPLE.vm1
const U1 = SAMPLE.u1
const U2 = SAMPLE.u2

function claimed(id: string): string {
  return id.replace('resourceGroups', 'resourcegroups')
}

/** Verifies a token with the key set alone, as a server would. */
async function verify(token: string): Promise<JWTPayload> {
  const { body } = await ask(`${authority}/common/discovery/keys`)
  const { payload } = await jwtVerify(token, createLocalJWKSet(body as JSONWebKeySet), {
    algorithms: ['RS256'],
    currentDate: new Date(NOW_MS),
  })
  return payload
}

const HOSTS = [
  { name: 'a machine by itself', resource: VM1, mirid: VM1 },
  { name: 'a machine by an assigned identity', resource: VM1, userIdentity: U1, mirid: U1, rid: VM1 },
  {
    name: 'a uniform set',
    resource: `${GROUP}/Microsoft.Compute/virtualMachineScaleSets/ss-u`,
    mirid: `${GROUP}/Microsoft.Compute/virtualMachineScaleSets/ss-u`,
  },
  {
    name: 'a member of a uniform set',
    resource: `${GROUP}/Microsoft.Compute/virtualMachineScaleSets/ss-u/virtualMachines/2`,
    userIdentity: U1,
    mirid: U1,
    rid: `${GROUP}/Microsoft.Compute/virtualMachineScaleSets/ss-u`,
  },
  {
    name: 'a member of a flexible set',
    resource: `${GROUP}/Microsoft.Compute/virtualMachines/ss-f_1a2b3c4d`,
    userIdentity: U2,
    mirid: U2,
    rid: `${GROUP}/Microsoft.Compute/virtualMachines/ss-f_1a2b3c4d`,
  },
  {
    name: 'a machine elsewhere that is managed from here',
    resource: `${GROUP}/Microsoft.HybridCompute/machines/arc1`,
    mirid: `${GROUP}/Microsoft.HybridCompute/machines/arc1`,
  },
]

for (const { name, resource, userIdentity, mirid, rid } of HOSTS) {
  test(`a token of ${name} says where it was asked for`, async () => {
    const payload = await verify(await minting.ofResource(resource, userIdentity === undefined ? {} : { userIdentity }))
    assert.equal(payload.xms_mirid, claimed(mirid))
    assert.equal(payload.xms_az_rid, rid === undefined ? undefined : claimed(rid))
    const principal = userIdentity === undefined ? resources.systemIdentityOf(mirid) : resources.userIdentityOf(mirid)
    assert.ok(principal)
    assert.deepEqual(
      [payload.oid, payload.sub, payload.appid, payload.tid, payload.ver, payload.idtyp, payload.appidacr],
      [principal.id, principal.id, principal.clientId, SAMPLE.tenant, '1.0', 'app', '2'],
    )
    assert.equal(payload.iss, `${authority}/${SAMPLE.tenant}/`)
    const minted = NOW_MS / 1000
    assert.deepEqual([payload.nbf, payload.iat, payload.exp], [minted - 300, minted - 300, minted + 86_400])
  })
}

test('a token for an application of somebody says nothing of the machine', async () => {
  directory.addApplication({ tenantId: SAMPLE.tenant, identifierUris: ['api://own'] })
  const payload = await verify(await minting.ofResource(VM1, { audience: 'api://own' }))
  assert.deepEqual([payload.aud, payload.xms_mirid, payload.idtyp], ['api://own', undefined, undefined])
})

test('an application can ask for tokens of version 2', async () => {
  const { clientId } = directory.addApplication({
    tenantId: SAMPLE.tenant,
    identifierUris: ['api://second'],
    accessTokenVersion: 2,
  })
  const payload = await verify(await minting.ofResource(VM1, { audience: 'api://second' }))
  assert.deepEqual(
    [payload.aud, payload.iss, payload.ver, payload.appid, payload.azp],
    [clientId, `${authority}/${SAMPLE.tenant}/v2.0`, '2.0', undefined, resources.systemIdentityOf(VM1)?.clientId],
  )
})

test('the clock is the one that is handed in', async (context) => {
  const clock = { nowMs: () => 1_000_000_000_000, monotonicMs: () => 0 }
  const old = await startEmulator({ world: { ...realWorld(), clock } })
  context.after(() => old.close())
  const { id } = old.machines.addVirtualMachine({ name: 'vm' })
  const { nbf, exp } = decodeJwt(await old.minting.ofResource(id))
  assert.deepEqual([nbf, exp], [1_000_000_000 - 300, 1_000_000_000 + 86_400])
})

test('groups are in tokens for those who ask for them, up to as many as fit', async () => {
  directory.addApplication({ tenantId: SAMPLE.tenant, identifierUris: ['api://groups'], groupClaims: true })
  const principal = resources.systemIdentityOf(VM1) ?? assert.fail('vm1 has an identity')
  const names = Array.from({ length: MOST_GROUPS }, (_, index) => `group-${index}`)
  directory.join(principal.id, ...names)
  const all = await verify(await minting.ofResource(VM1, { audience: 'api://groups' }))
  assert.deepEqual(all.groups, names)
  directory.join(principal.id, 'one more')
  const over = await verify(await minting.ofResource(VM1, { audience: 'api://groups' }))
  assert.equal(over.groups, undefined)
  assert.deepEqual(over._claim_names, { groups: 'src1' })
  const endpoint = `${graph}/v1.0/users/${principal.id}/getMemberObjects`
  assert.deepEqual(over._claim_sources, { src1: { endpoint } })
  assert.equal(decodeJwt(await minting.ofResource(VM1)).groups, undefined)
})

test('who has no such identity gets no token', async () => {
  await assert.rejects(
    minting.ofResource(`${GROUP}/Microsoft.Compute/virtualMachines/noid`),
    /has no identity of its own/,
  )
  await assert.rejects(minting.ofResource(VM1, { userIdentity: U2 }), /is not assigned to/)
  await assert.rejects(minting.ofPrincipal('nobody'), /no principal "nobody"/)
})

test('claims can be laid over and taken away', async () => {
  const payload = await verify(await minting.ofResource(VM1, { claims: { oid: undefined, groups: 'one', exp: 4e9 } }))
  assert.deepEqual([payload.oid, payload.groups, payload.exp], [undefined, 'one', 4e9])
})

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const WRONG: readonly { name: string; form: TokenForm; alg: string; code: string }[] = [
  { name: 'no algorithm', form: { key: 'none' }, alg: 'none', code: 'ERR_JOSE_ALG_NOT_ALLOWED' },
  { name: 'an HMAC with the PEM', form: { key: 'hmac-pem' }, alg: 'HS256', code: 'ERR_JOSE_ALG_NOT_ALLOWED' },
  { name: 'an HMAC with the DER', form: { key: 'hmac-der' }, alg: 'HS256', code: 'ERR_JOSE_ALG_NOT_ALLOWED' },
  { name: 'PS256', form: { algorithm: 'PS256' }, alg: 'PS256', code: 'ERR_JOSE_ALG_NOT_ALLOWED' },
  { name: 'RS512', form: { algorithm: 'RS512' }, alg: 'RS512', code: 'ERR_JOSE_ALG_NOT_ALLOWED' },
  {
    name: 'a curve',
    form: { key: { ...keys.current, ...ec }, algorithm: 'ES256' },
    alg: 'ES256',
    code: 'ERR_JOSE_ALG_NOT_ALLOWED',
  },
  { name: 'another key', form: { key: 'foreign' }, alg: 'RS256', code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' },
  { name: 'another id', form: { header: { kid: 'x' } }, alg: 'RS256', code: 'ERR_JWKS_NO_MATCHING_KEY' },
  { name: 'no id', form: { header: { kid: undefined } }, alg: 'RS256', code: 'ERR_JWKS_MULTIPLE_MATCHING_KEYS' },
  { name: 'crit', form: { header: { crit: ['a'], a: 1 } }, alg: 'RS256', code: 'ERR_JOSE_NOT_SUPPORTED' },
]

for (const { name, form, alg, code } of WRONG) {
  test(`a token with ${name} can be made, and is refused`, async () => {
    const token = await minting.ofResource(VM1, form)
    assert.equal(decodeProtectedHeader(token).alg, alg)
    await assert.rejects(verify(token), { code })
  })
}

test('keys roll over: announced, unannounced, revoked', async () => {
  const first = await minting.ofResource(VM1)
  const announced = keys.published.map(({ kid }) => kid)
  await keys.rotate()
  assert.equal(keys.current.kid, announced[1])
  assert.equal(decodeProtectedHeader(first).kid, keys.previous.kid)
  await verify(first)
  await verify(await minting.ofResource(VM1, { key: 'previous' }))
  await keys.rotate({ unannounced: true })
  const early = await minting.ofResource(VM1)
  await assert.rejects(verify(early), { code: 'ERR_JWKS_NO_MATCHING_KEY' })
  keys.publish()
  await verify(early)
  await keys.rotate({ revoke: true })
  await assert.rejects(verify(early), { code: 'ERR_JWKS_NO_MATCHING_KEY' })
  await verify(await minting.ofResource(VM1))
})
