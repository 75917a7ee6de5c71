// The documents of the directory and its token endpoint, over HTTP.
import { strict as assert } from 'node:assert'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { ask, askToken } from './asking.ts'
import { startEmulator } from './emulator.ts'
import { SAMPLE, SAMPLE_PLAN } from './sample-plan.ts'

const emulator = await startEmulator({ plan: SAMPLE_PLAN })
after(() => emulator.close())
const { authority, resourceManager, graph } = emulator.addresses()
const { directory } = emulator

const DISCOVERIES = [
  { path: `${SAMPLE.tenant}/`, issuer: `${SAMPLE.tenant}/`, keys: 'common/discovery/keys' },
  { path: 'example.test/', issuer: `${SAMPLE.tenant}/`, keys: 'common/discovery/keys' },
  { path: 'common/', issuer: '{tenantid}/', keys: 'common/discovery/keys' },
  {
    path: `${SAMPLE.tenant}/v2.0/`,
    issuer: `${SAMPLE.tenant}/v2.0`,
    keys: `${SAMPLE.tenant}/discovery/v2.0/keys`,
  },
  { path: 'common/v2.0/', issuer: '{tenantid}/v2.0', keys: 'common/discovery/v2.0/keys' },
]

for (const { path, issuer, keys } of DISCOVERIES) {
  test(`discovery of ${path} names its issuer and its keys`, async () => {
    const { status, body } = await ask(`${authority}/${path}.well-known/openid-configuration`)
    assert.equal(status, 200)
    assert.equal(body.issuer, `${authority}/${issuer}`)
    assert.equal(body.jwks_uri, `${authority}/${keys}`)
    const set = await ask(body.jwks_uri)
    assert.equal(set.headers.get('cache-control'), 'max-age=86400, private')
    assert.equal(set.body.keys.length, 2)
    for (const key of set.body.keys) {
      assert.deepEqual([key.kty, key.use, key.alg, key.x5t], ['RSA', 'sig', undefined, key.kid])
      assert.equal(key.issuer, path.includes('v2.0') ? `${authority}/{tenantid}/v2.0` : undefined)
    }
  })
}

test('the key set can hold keys of others, and impossible ones', async () => {
  const { jwk } = await emulator.keys.spare()
  const good = emulator.keys.published
  emulator.keys.publish({ ...jwk, issuer: `${authority}/${SAMPLE.otherTenant}/v2.0` })
  emulator.keys.publish({ ...jwk, use: 'enc' })
  const { body } = await ask(`${authority}/${SAMPLE.tenant}/discovery/v2.0/keys`)
  assert.equal(body.keys.length, 4)
  assert.equal(body.keys[2].issuer, `${authority}/${SAMPLE.otherTenant}/v2.0`)
  emulator.keys.replacePublished([])
  assert.deepEqual((await ask(`${authority}/common/discovery/keys`)).body.keys, [])
  emulator.keys.replacePublished(good)
})

test('an unknown tenant has neither documents nor tokens', async () => {
  const documents = await ask(`${authority}/nobody.test/.well-known/openid-configuration`)
  const keys = await ask(`${authority}/nobody.test/discovery/v2.0/keys`)
  const token = await askToken(emulator, {}, 'nobody.test')
  for (const { status, body } of [documents, keys, token]) {
    assert.equal(status, 400)
    assert.equal(body.error, 'invalid_tenant')
    assert.deepEqual(body.error_codes, [90002])
  }
})

test('libraries are told which hosts belong together', async () => {
  const { body } = await ask(`${authority}/common/discovery/instance?api-version=1.1`)
  assert.deepEqual(body.metadata[0].aliases, [new URL(authority).host])
})

const REFUSED = [
  { name: 'a wrong secret', form: { client_secret: 'wrong' }, status: 401, code: 7000215 },
  { name: 'no secret', form: { client_secret: '' }, status: 401, code: 7000215 },
  { name: 'an unknown application', form: { client_id: SAMPLE.tenant }, status: 400, code: 700016 },
  { name: 'an unknown resource', form: { scope: 'https://nobody.test/.default' }, status: 400, code: 500011 },
  { name: 'a scope that is none', form: { scope: 'https://management.azure.com/' }, status: 400, code: 1002012 },
  { name: 'another grant', form: { grant_type: 'password' }, status: 400, code: 70003 },
  {
    name: 'an assertion that nobody registered',
    form: {
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'a.b.c',
    },
    status: 400,
    code: 70021,
  },
]

for (const { name, form, status, code } of REFUSED) {
  test(`the token endpoint refuses ${name}`, async () => {
    const answer = await askToken(emulator, form as Record<string, string>)
    assert.equal(answer.status, status)
    assert.deepEqual(answer.body.error_codes, [code])
    assert.match(answer.body.error_description, new RegExp(`^AADSTS${code}: `))
  })
}

test('an application of another tenant is unknown', async () => {
  const { body } = await askToken(emulator, {}, SAMPLE.otherTenant)
  assert.deepEqual(body.error_codes, [700016])
})

test('the audience is what was asked for, by scope or by resource', async () => {
  for (const audience of ['https://management.azure.com', 'https://management.azure.com/', resourceManager]) {
    const { body } = await askToken(emulator, { scope: `${audience}/.default` })
    assert.deepEqual([body.token_type, body.expires_in, body.ext_expires_in], ['Bearer', 3599, 3599])
    assert.equal(decodeJwt(body.access_token).aud, audience)
  }
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: SAMPLE.clientId,
    client_secret: SAMPLE.clientSecret,
    resource: graph,
  })
  const { body } = await ask(`${authority}/example.test/oauth2/token`, { body: form })
  const { aud, roles, appidacr } = decodeJwt(body.access_token)
  assert.deepEqual([aud, appidacr], [graph, '1'])
  assert.deepEqual(roles, ['Application.ReadWrite.OwnedBy', 'GroupMember.Read.All'])
})

test('a secret is good from its start, and where it is known, to its end', async () => {
  const application = directory.findApplication(SAMPLE.tenant, SAMPLE.clientId) ?? assert.fail('the sample has one')
  const now = emulator.clock.nowMs()
  directory.addSecret(application, { secretText: 'late', startMs: now + 60_000, endMs: now + 120_000 })
  directory.addSecret(application, { secretText: 'unknown' }, 60_000)
  const codes = async (): Promise<unknown[]> => {
    const answers = await Promise.all(['late', 'unknown'].map((each) => askToken(emulator, { client_secret: each })))
    return answers.map(({ status, body }) => body.error_codes?.[0] ?? status)
  }
  assert.deepEqual(await codes(), [7000215, 7000215])
  emulator.clock.skewMs = 61_000
  assert.deepEqual(await codes(), [200, 200])
  emulator.clock.skewMs = 121_000
  assert.deepEqual(await codes(), [7000222, 200])
  emulator.clock.skewMs = 0
})

test('a federated token is taken from whom it is expected, as it is expected', async () => {
  const principal = emulator.resources.userIdentityOf(SAMPLE.u1) ?? assert.fail('the sample has one')
  const { cluster } = emulator
  const subject = 'system:serviceaccount:default:app'
  principal.federatedCredentials.push({ issuer: cluster.issuer, subject, audience: 'api://AzureADTokenExchange' })
  const trade = async (assertion: string): Promise<number> => {
    const { status } = await askToken(emulator, {
      client_id: principal.clientId,
      client_secret: '',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    })
    return status
  }
  assert.equal(await trade(await cluster.token(subject)), 200)
  assert.equal(await trade(await cluster.token('system:serviceaccount:default:other')), 400)
  assert.equal(await trade(await cluster.token(subject, { audience: 'api://other' })), 400)
  assert.equal(await trade(await cluster.token(subject, { key: 'foreign' })), 400)
  assert.equal(await trade(await cluster.token(subject, { claims: { exp: 1 } })), 400)
  assert.equal(
    await trade(
      await emulator.minting.ofClaims({
        iss: cluster.issuer,
        sub: subject,
        aud: 'api://AzureADTokenExchange',
        exp: 4e9,
      }),
    ),
    400,
  )
})
