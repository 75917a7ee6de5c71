// Logins by the identity of a machine: the metadata service of the emulator answers as that of vm1.
import { strict as assert } from 'node:assert'
import { after, beforeEach, test } from 'node:test'
import { startEmulator } from '../../emulator/emulator.ts'
import { SAMPLE, SAMPLE_PLAN } from '../../emulator/sample-plan.ts'
import { envelope, startApiDouble } from '../../test/fixtures/api-double.ts'
import { runClient } from '../../test/fixtures/cli-run.ts'

const emulator = await startEmulator({ plan: SAMPLE_PLAN })
const api = await startApiDouble()
after(() => Promise.all([emulator.close(), api.close()]))
const [machine] = emulator.resources.all().filter(({ type }) => type === 'Microsoft.Compute/virtualMachines')
const metadata = await emulator.metadataOf(machine?.id ?? '')
const AUTH = { client_token: 'hvs.new', accessor: 'acc', policies: ['app'], lease_duration: 60, renewable: true }
beforeEach(() => {
  api.asked.length = 0
  api.answer = () => ({ status: 200, body: envelope({ auth: AUTH }) })
})

const client = (argv: string, env = {}) =>
  runClient(argv.split(' '), { env: { VAULT_ADDR: api.address, KEYWRIGHT_CLOUD_METADATA: metadata, ...env } })
const sent = () => JSON.parse(api.asked[0]?.body ?? 'null') as Record<string, string>

test('login -method=cloud sends the token and the names that the machine has', async () => {
  const ran = await client('login -method=cloud -token-only role=app')
  assert.deepEqual([ran.code, ran.stdout], [0, 'hvs.new'], ran.stderr)
  const { jwt = '', ...fields } = sent()
  assert.deepEqual(fields, {
    role: 'app',
    subscription_id: SAMPLE.subscription,
    resource_group_name: 'rg-app',
    vm_name: 'vm1',
  })
  const claims = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
  assert.equal(claims.aud, 'https://management.azure.com/')
})

test('what is given is kept, and what the token is for can be said', async () => {
  await client('login -method=azure -no-store role=app vm_name=other resource=https://graph.microsoft.com')
  const { jwt = '', vm_name } = sent()
  assert.equal(vm_name, 'other')
  assert.equal(
    JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()).aud,
    'https://graph.microsoft.com',
  )
  emulator.requests.clear()
  api.asked.length = 0
  await client('login -method=azure -no-store role=app jwt=given')
  assert.deepEqual(sent(), { role: 'app', jwt: 'given' })
  assert.equal(emulator.requests.count(), 0)
})

test('where there is no such service, or it refuses, the client says so', async () => {
  const none = await client('login -method=cloud -no-store role=app', {
    KEYWRIGHT_CLOUD_METADATA: 'http://127.0.0.1:1',
  })
  assert.equal(none.code, 1)
  assert.match(none.stderr, /Does this run on a machine of the cloud\?.*jwt=@FILE/)
  const refused = await client('login -method=cloud -no-store role=app resource=https://unknown.example')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /refused identity\/oauth2\/token with 400/)
})

test('a busy service is asked again', async () => {
  emulator.faults.add({ service: 'metadata', times: 2, action: { kind: 'status', status: 429 } })
  assert.equal((await client('login -method=cloud -token-only role=app')).code, 0)
  emulator.faults.clear()
})

test('cloud explain shows the checks, and ends with 2 where the login would be refused', async () => {
  const checks = [{ name: 'aud is the configured resource', verdict: 'failed', detail: 'audience: "x" is not' }]
  const data = { allowed: false, status: 403, reason: 'permission denied: audience', checks }
  api.answer = () => ({ status: 200, body: envelope({ data }) })
  const ran = await client('cloud explain -path=azure role=app jwt=x')
  assert.equal(ran.code, 2)
  assert.equal(`${api.asked[0]?.method} ${api.asked[0]?.target}`, 'POST /v1/auth/azure/explain')
  assert.match(ran.stdout, /Allowed +no\n[\s\S]*aud is the configured resource +failed +audience: "x" is not/)
})
