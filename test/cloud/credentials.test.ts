// By what this server shows the cloud who it is: each of the four ways, from the configuration of a mount to a login
// about which the cloud is asked.

import { strict as assert } from 'node:assert'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { startEmulator } from '../../emulator/emulator.ts'
import { SAMPLE, SAMPLE_PLAN } from '../../emulator/sample-plan.ts'
import { ROOT } from '../../src/api/namespace.ts'
import { bodyText } from '../../src/core/exchange.ts'
import type { CloudAuth } from '../../src/engines/cloud/cloud.ts'
import type { Outbound } from '../../src/lib/outbound.ts'
import { realWorld } from '../../src/lib/world.ts'
import { type CloudServer, START_MS, startCloudServer } from '../fixtures/cloud-server.ts'
import { wireRequest } from '../fixtures/memory-server.ts'
import { steppedTime } from '../fixtures/stepped-time.ts'

const DISCOVERY = 'identity/oidc/plugins/.well-known/openid-configuration'
const KEYS = 'identity/oidc/plugins/.well-known/keys'
const AUDIENCE = 'api://AzureADTokenExchange'
const POD = 'system:serviceaccount:keys:keywright'

let nowMs = START_MS
const { random } = realWorld()
// No request is late: no time passes for what waits.
const { timers } = steppedTime(START_MS)
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
const folder = mkdtempSync(join(tmpdir(), 'credentials-'))
const tokenFile = join(folder, 'token')
const emulator = await startEmulator({ world: { clock, random, timers }, plan: SAMPLE_PLAN })

/** What the cloud was sent in the place of secrets. */
const shown: string[] = []
const network = (real: Outbound): Outbound => ({
  request: (request) => {
    const assertion = new URLSearchParams(String(request.body ?? '')).get('client_assertion')
    if (assertion !== null) shown.push(assertion)
    return real.request(request)
  },
})

/** The way from the cloud to this server. */
const front = createServer(async (incoming, outgoing) => {
  const { status, headers, body } = await server.node.core.handle(
    wireRequest(incoming.method ?? '', String(incoming.url).replace('/v1/', ''), undefined, undefined),
  )
  outgoing.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body)
})
await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
const apiAddress = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
const ISSUER = `${apiAddress}/v1/identity/oidc/plugins`
const vm1 = SAMPLE.vm1
const options = {
  emulator,
  network,
  time: { clock, timers },
  metadata: await emulator.metadataOf(vm1),
  environment: { FEDERATED_TOKEN_FILE: tokenFile },
  facts: { apiAddress },
}
const server: CloudServer = await startCloudServer(options)
emulator.resources.grant(server.oid(vm1), `/subscriptions/${SAMPLE.subscription}`)

after(async () => {
  await emulator.close()
  await new Promise((resolve) => front.close(resolve))
  rmSync(folder, { recursive: true })
})

/** The application of the sample trusts these tokens too. */
function trust(issuer: string, subject: string, audience = AUDIENCE): void {
  const application = emulator.directory.findApplication(SAMPLE.tenant, SAMPLE.clientId)
  application?.principal.federatedCredentials.push({ issuer, subject, audience })
}
trust(emulator.cluster.issuer, POD)

const NO_SECRET = { client_secret: '' }
let mounts = 0
/** A mount of its own, whose server has no credential but what `fields` say. */
async function mount(fields: object, of = server) {
  const path = `auth/m${++mounts}`
  await of.call('POST', `sys/${path}`, { type: 'cloud' })
  const { data } = (await of.call('GET', `sys/${path}`)).body
  await of.role('r', { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] }, path)
  const written = await of.configure({ ...NO_SECRET, ...fields }, path)
  const subject = `plugin-identity:root:auth:${data?.accessor}`
  const uuid = of.node.mounts.find(ROOT, `${path}/`)?.uuid ?? ''
  /** Tokens that it holds are forgotten. */
  const reset = () => (of.node.mounts.engineOf(uuid) as CloudAuth).reset()
  return { path, written, subject, reset }
}

/** As a machine about which the cloud has to be asked. */
async function logIn(path: string, of = server) {
  const jwt = await emulator.minting.ofResource(vm1)
  const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
  return of.login({ role: 'r', jwt, ...place }, path)
}
const textOf = ({ body }: { readonly body: object }) => JSON.stringify(body)
const published = async () => (await server.call('GET', KEYS, undefined, '')).body.keys as { kid: string }[]
test('before anybody asked there is no key, and discovery says where they would be', async () => {
  assert.deepEqual(await published(), [])
  const answer = await server.node.core.handle(wireRequest('GET', DISCOVERY))
  assert.equal(answer.headers?.['Cache-Control'], 'public, max-age=3600')
  assert.deepEqual(JSON.parse(bodyText(answer)), {
    issuer: ISSUER,
    jwks_uri: `${ISSUER}/.well-known/keys`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  })
})

test('root_creds: a secret, and nothing else although there is more', async () => {
  const { path, written } = await mount({ auth_type: 'root_creds', client_secret: SAMPLE.clientSecret })
  assert.equal(written.status, 204, textOf(written))
  assert.equal((await logIn(path)).status, 200)
  assert.deepEqual(shown, [])
})

test('msi: the identity of the machine, although there is a secret', async () => {
  const { path, written } = await mount({ auth_type: 'msi', client_id: '', client_secret: SAMPLE.clientSecret })
  assert.equal(written.status, 204, textOf(written))
  const before = emulator.requests.list({ service: 'metadata' }).length
  const answer = await logIn(path)
  assert.equal(answer.status, 200, textOf(answer))
  assert.equal(emulator.requests.list({ service: 'metadata' }).length, before + 1)
  assert.deepEqual(shown, [])
})

test('aks_wi: the token in the file as it is then, pinned or because there is nothing better', async () => {
  for (const authType of ['aks_wi', 'aks_wif', '']) {
    const { path, written, reset } = await mount({ auth_type: authType })
    assert.equal(written.status, 204, textOf(written))
    for (const renewed of [1, 2]) {
      const token = await emulator.cluster.token(POD, { claims: { jti: `${path} ${renewed}` } })
      writeFileSync(tokenFile, `${token}\n`)
      reset()
      const answer = await logIn(path)
      assert.equal(answer.status, 200, textOf(answer))
      assert.equal(shown.at(-1), token)
    }
    const { data } = (await server.call('GET', `${path}/config`)).body
    assert.equal(data?.auth_type, authType)
  }
})

test('aks_wi: what is wrong with the file is said, and what to do', async () => {
  const { path } = await mount({ auth_type: 'aks_wi' })
  const refusedWith = async (text: RegExp, line: RegExp) => {
    server.lines.length = 0
    const answer = await logIn(path)
    assert.equal(answer.status, 502)
    assert.match(textOf(answer), text)
    assert.match(server.lines.join('\n'), line)
    assert.ok(!textOf(answer).includes(folder))
  }
  rmSync(tokenFile)
  await refusedWith(/AZURE_FEDERATED_TOKEN_FILE, and the log/, /token, which AZURE_.*cannot be read \(ENOENT\)/)
  mkdirSync(tokenFile)
  await refusedWith(/cannot be read/, /is no file: name the one/)
  rmdirSync(tokenFile)
  execFileSync('mkfifo', [tokenFile])
  await refusedWith(/cannot be read/, /is no file: name the one/)
  rmSync(tokenFile)
  writeFileSync(tokenFile, 'a'.repeat(20_000))
  await refusedWith(/cannot be read/, /longer than 16384 bytes/)
  writeFileSync(tokenFile, 'no token')
  await refusedWith(/cannot be read/, /holds no signed token/)
  const ended = { exp: Math.floor(nowMs / 1000) - 1 }
  writeFileSync(tokenFile, await emulator.cluster.token(POD, { claims: ended }))
  await refusedWith(/AADSTS700024.*still replaced/, /700024/)
  writeFileSync(tokenFile, await emulator.cluster.token('system:serviceaccount:keys:another'))
  await refusedWith(/AADSTS70021.*within a minute.*issuer, subject and audience/, /700213/)
  writeFileSync(tokenFile, await emulator.cluster.token(POD, { audience: 'api://another' }))
  await refusedWith(/AADSTS70021/, /700212/)
  for (const token of shown) assert.ok(!server.lines.join('\n').includes(token.slice(0, 40)))
})

test('plugin_wif: a token of this server, checked by its own documents', async () => {
  const { path, written, subject } = await mount({
    auth_type: 'plugin_wif',
    identity_token_audience: AUDIENCE,
    identity_token_ttl: '10m',
  })
  assert.equal(written.status, 204, textOf(written))
  const tooSoon = await logIn(path)
  assert.equal(tooSoon.status, 502)
  assert.match(textOf(tooSoon), /AADSTS70021/)
  trust(ISSUER, subject)
  const answer = await logIn(path)
  assert.equal(answer.status, 200, textOf(answer))
  const token = shown.at(-1) ?? ''
  const { jti, ...claims } = decodeJwt(token)
  const now = Math.floor(nowMs / 1000)
  assert.deepEqual(claims, { iss: ISSUER, sub: subject, aud: AUDIENCE, iat: now, nbf: now, exp: now + 600 })
  assert.match(String(jti), /^[0-9a-f-]{36}$/)
  const { kid, alg } = decodeProtectedHeader(token)
  assert.deepEqual([alg, (await published())[0]?.kid], ['RS256', kid])
  for (const key of await published()) assert.deepEqual(Object.keys(key), ['kty', 'use', 'alg', 'kid', 'n', 'e'])
  const { data } = (await server.call('GET', `${path}/config`)).body
  assert.deepEqual([data?.identity_token_audience, data?.identity_token_ttl], [AUDIENCE, 600])
})

test('plugin_wif: another audience than the cloud was told is refused', async () => {
  const { path, subject } = await mount({ identity_token_audience: 'api://another' })
  trust(ISSUER, subject)
  const answer = await logIn(path)
  assert.equal(answer.status, 502)
  assert.match(textOf(answer), /AADSTS70021/)
  await server.configure({ ...NO_SECRET, identity_token_audience: AUDIENCE }, path)
  assert.equal((await logIn(path)).status, 200)
  assert.equal((decodeJwt(shown.at(-1) ?? '').exp ?? 0) - Math.floor(nowMs / 1000), 3_600)
})

test('plugin_wif: a mount that is moved has the same subject, one that is made anew at its path has not', async () => {
  const { path, subject } = await mount({ identity_token_audience: AUDIENCE })
  trust(ISSUER, subject)
  assert.equal((await server.call('POST', 'sys/remount', { from: path, to: `${path}-moved` })).status, 200)
  let answer = await logIn(`${path}-moved`)
  for (let left = 100; answer.status === 404 && left > 0; left--) answer = await logIn(`${path}-moved`)
  assert.equal(answer.status, 200, textOf(answer))
  assert.equal(decodeJwt(shown.at(-1) ?? '').sub, subject)
  await server.call('POST', `sys/${path}`, { type: 'cloud' })
  await server.role('r', { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] }, path)
  await server.configure({ ...NO_SECRET, identity_token_audience: AUDIENCE }, path)
  assert.equal((await logIn(path)).status, 502)
  assert.notEqual(decodeJwt(shown.at(-1) ?? '').sub, subject)
})

test('plugin_wif: nothing here takes its token, neither as one that is wrapped nor for a login', async () => {
  const { path } = await mount({ identity_token_audience: 'https://management.azure.com/' })
  await logIn(path)
  const token = shown.at(-1) ?? ''
  assert.equal(decodeJwt(token).aud, 'https://management.azure.com/')
  assert.equal((await server.call('POST', 'sys/wrapping/unwrap', { token })).status, 400)
  assert.equal((await server.call('GET', 'auth/token/lookup-self', undefined, token)).status, 403)
  const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
  assert.equal((await server.login({ role: 'r', jwt: token, ...place }, path)).status, 403)
})

test('plugin_wif: keys change after a day, announced before, published until their tokens have ended', async () => {
  const { path, subject, reset } = await mount({ identity_token_audience: AUDIENCE })
  trust(ISSUER, subject)
  const kidShown = async () => {
    reset()
    const answer = await logIn(path)
    assert.equal(answer.status, 200, textOf(answer))
    return decodeProtectedHeader(shown.at(-1) ?? '').kid
  }
  const kids = async () => (await published()).map(({ kid }) => kid)
  const [first, second] = await kids()
  assert.equal(await kidShown(), first)
  nowMs += 23 * 3_600_000
  assert.equal(await kidShown(), first)
  nowMs += 3_600_000
  assert.equal(await kidShown(), second)
  const [, third, former, ...more] = await kids()
  assert.deepEqual([former, more], [first, []])
  nowMs += 24 * 3_600_000 - 1
  assert.equal(await kidShown(), second)
  assert.deepEqual(await kids(), [second, third, first])
  nowMs += 11 * 60_000
  assert.deepEqual(await kids(), [second, third])
  const together = await Promise.all([
    server.configure({ ...NO_SECRET, identity_token_audience: AUDIENCE }, path),
    kidShown(),
  ])
  assert.deepEqual([together[0].status, together[1]], [204, third])
  assert.equal((await kids()).length, 3)
})

test('plugin_wif: keys of a clock that was ahead neither sign nor stay published until that time comes', async () => {
  const { path, subject, reset } = await mount({ identity_token_audience: AUDIENCE })
  trust(ISSUER, subject)
  const kidShown = async () => {
    reset()
    assert.equal((await logIn(path)).status, 200)
    return decodeProtectedHeader(shown.at(-1) ?? '').kid
  }
  const wasMs = nowMs
  const yearMs = 365 * 86_400_000
  nowMs += yearMs
  const ahead = await kidShown()
  nowMs += 86_400_000
  const second = await kidShown()
  assert.notEqual(second, ahead)
  nowMs = wasMs
  const third = await kidShown()
  assert.ok(third !== ahead && third !== second)
  const kids = async () => (await published()).map(({ kid }) => kid)
  assert.ok((await kids()).includes(String(ahead)))
  nowMs += 86_400_000 + 11 * 60_000
  assert.deepEqual((await kids())[0], third)
  assert.equal((await kids()).length, 2)
})

test('a token of this server is in no answer, no log line, and nothing private is published', async () => {
  const logged = server.lines.join('\n')
  for (const token of shown) {
    const [head = '', , signature = ''] = token.split('.')
    assert.ok(!logged.includes(head) && !logged.includes(signature))
  }
  assert.equal((await server.call('GET', `${KEYS}?help=1`)).status, 200)
  const before = await published()
  await server.call('POST', 'sys/seal')
  for (const path of [KEYS, DISCOVERY]) assert.equal((await server.call('GET', path, undefined, '')).status, 503)
  for (const share of server.shares) await server.node.operations.unseal(share)
  assert.deepEqual(await published(), before)
})

test('explain works by every credential; rotate-root says so where there is no secret', async () => {
  const federated = await mount({ identity_token_audience: AUDIENCE })
  trust(ISSUER, federated.subject)
  writeFileSync(tokenFile, await emulator.cluster.token(POD))
  const all = [
    [federated, 'identity token'],
    [await mount({ auth_type: 'aks_wi' }), 'token file'],
    [await mount({ auth_type: 'msi', client_secret: SAMPLE.clientSecret }), 'machine'],
  ] as const
  const jwt = await emulator.minting.ofResource(vm1)
  const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
  for (const [{ path }, kind] of all) {
    if (kind === 'machine') await server.call('POST', `${path}/config`, { client_id: '' })
    const explained = await server.call('POST', `${path}/explain`, { role: 'r', jwt, ...place })
    assert.deepEqual([explained.status, explained.body.data?.allowed], [200, true], textOf(explained))
    if (kind === 'machine') await server.call('POST', `${path}/config`, { client_id: SAMPLE.clientId })
    const rotated = await server.call('POST', `${path}/rotate-root`)
    assert.equal(rotated.status, 400)
    assert.match(textOf(rotated), new RegExp(`asks the cloud by its ${kind}.*set client_secret`))
    const scheduled = await server.call('POST', `${path}/config`, { rotation_period: '1h' })
    assert.match(String(scheduled.body.warnings), new RegExp(`No secret is changed by itself.*${kind}`))
  }
})

test('S7: a secret and an audience exclude each other, in one write and in two', async () => {
  const both = { client_secret: 'x', identity_token_audience: AUDIENCE }
  const { path, written } = await mount(both)
  assert.equal(written.status, 400)
  assert.match(textOf(written), /only one of 'client_secret' or 'identity_token_audience' can be set/)
  assert.equal((await server.configure({ client_secret: 'x' }, path)).status, 204)
  const write = (fields: object) => server.call('POST', `${path}/config`, fields)
  assert.equal((await write({ identity_token_audience: AUDIENCE })).status, 400)
  assert.equal((await write({ identity_token_audience: AUDIENCE, client_secret: '' })).status, 204)
  assert.equal((await write({ client_secret: 'x' })).status, 400)
})

test('an audience beside a secret of the environment: it is said to do nothing, and no secret is made', async () => {
  const environment = { CLIENT_SECRET: SAMPLE.clientSecret }
  const other = await startCloudServer({ emulator, time: { clock, timers }, environment, facts: { apiAddress } })
  const write = (fields: object) => other.call('POST', 'auth/cloud/config', fields)
  const written = await write({ client_secret: '', identity_token_audience: AUDIENCE })
  assert.match(String(written.body.warnings), /identity_token_audience does nothing: .* secret, .*plugin_wif/)
  const scheduled = await write({ rotation_period: '1h' })
  assert.match(String(scheduled.body.warnings), /No secret is changed by itself: identity_token_audience excludes/)
  const rotated = await other.call('POST', 'auth/cloud/rotate-root')
  assert.equal(rotated.status, 400)
  assert.match(textOf(rotated), /identity_token_audience.*clear it first/)
  assert.match(String((await write({ auth_type: 'msi' })).body?.errors), /metadata/)
  assert.match(
    String((await write({ auth_type: 'root_creds' })).body.warnings),
    /does nothing: auth_type is root_creds/,
  )
  assert.doesNotMatch(textOf(await write({ auth_type: 'plugin_wif' })), /does nothing/)
})

test('what auth_type pins must be configured, and it is kept', async () => {
  const { path } = await mount({})
  const write = (fields: object, of = server) => of.call('POST', `${path}/config`, fields)
  for (const [fields, text] of [
    [{ auth_type: 'root' }, /auth_type.*root_creds, plugin_wif, msi or aks_wi/],
    [{ auth_type: 'root_creds' }, /auth_type.*client_secret is not set: set it/],
    [{ auth_type: 'plugin_wif' }, /auth_type.*identity_token_audience is not set/],
    [{ auth_type: 'aks_wi', client_id: '' }, /auth_type.*client_id is not set/],
    [{ identity_token_ttl: '25h' }, /identity_token_ttl.*86400/],
    [{ identity_token_audience: 'a'.repeat(600) }, /identity_token_audience/],
  ] as const) {
    const answer = await write(fields)
    assert.equal(answer.status, 400, JSON.stringify(fields))
    assert.match(textOf(answer), text)
  }
  assert.equal((await write({ auth_type: 'plugin_wif', identity_token_audience: AUDIENCE })).status, 204)
  assert.equal((await write({ tenant_id: 'example.test' })).status, 204)
  const { data } = (await server.call('GET', `${path}/config`)).body
  assert.deepEqual(
    [data?.auth_type, data?.identity_token_audience, data?.identity_token_ttl],
    ['plugin_wif', AUDIENCE, 0],
  )
  assert.equal((await write({ identity_token_audience: '' })).status, 400)
})

test('a server without an address, a file or metadata says what it lacks', async () => {
  const bare = await startCloudServer({ emulator, time: { clock, timers } })
  const write = (fields: object) => bare.call('POST', 'auth/cloud/config', { ...NO_SECRET, ...fields })
  for (const [fields, text] of [
    [{ identity_token_audience: AUDIENCE }, /api_addr/],
    [{ auth_type: 'aks_wi' }, /AZURE_FEDERATED_TOKEN_FILE is not in the environment/],
    [{ auth_type: 'msi' }, /metadata in its stanza/],
  ] as const) {
    const answer = await write(fields)
    assert.equal(answer.status, 400)
    assert.match(textOf(answer), text)
  }
  assert.match(textOf(await bare.call('GET', DISCOVERY, undefined, '')), /api_addr/)
  assert.equal((await bare.call('GET', DISCOVERY, undefined, '')).status, 400)
  assert.deepEqual((await bare.call('GET', KEYS, undefined, '')).body, { keys: [] })
  assert.equal((await write({})).status, 204)
  await bare.role('r', { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] })
  const answer = await logIn('auth/cloud', bare)
  assert.equal(answer.status, 502)
  assert.match(textOf(answer), /no credential for the cloud/)
  assert.match(bare.lines.join('\n'), /no address of instance metadata/)
})
