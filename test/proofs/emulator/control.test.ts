import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { ask } from '../../../emulator/asking.ts'
import { startEmulator } from '../../../emulator/emulator.ts'
import { SAMPLE, SAMPLE_PLAN } from '../../../emulator/sample-plan.ts'

const emulator = await startEmulator({ plan: SAMPLE_PLAN })
after(() => emulator.close())
const CONTROL = `${emulator.origin('control')}/_emulator`
const { authority, resourceManager, graph } = emulator.addresses()
const VM1 = SAMPLE.vm1

async function order(method: string, path: string, body?: object) {
  const answer = await ask(`${CONTROL}/${path}`, { method, ...(body === undefined ? {} : { body }) })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

test('the state can be seen, replaced and put back', async () => {
  const sample = await order('GET', 'state')
  assert.ok(sample.resources.some(({ id }: { id: string }) => id === VM1))
  const plan = {
    tenants: [{ id: SAMPLE.otherTenant }],
    subscriptions: [{ id: SAMPLE.foreignSubscription }],
    virtualMachines: [{ name: 'only' }],
  }
  const replaced = await order('PUT', 'state', plan)
  assert.deepEqual(replaced.tenants, [{ id: SAMPLE.otherTenant, domains: [] }])
  assert.equal(replaced.resources.length, 1)
  assert.ok(replaced.resources[0].principalId)
  const wrong = await ask(`${CONTROL}/state`, { method: 'PUT', body: { virtualMachines: [{ name: 'vm1' }] } })
  assert.deepEqual([wrong.status, wrong.body.errors], [400, ['There is no subscription: add one']])
  await order('POST', 'reset')
  assert.equal((await order('GET', 'state')).resources.length, sample.resources.length)
})

test('tokens are minted, keys rotated, the clock set', async () => {
  const { token } = await order('POST', 'mint', { resource: VM1, claims: { groups: ['g'] } })
  assert.deepEqual(decodeJwt(token).groups, ['g'])
  const { token: plain } = await order('POST', 'mint', { claims: { a: 1 }, key: 'none' })
  assert.equal(plain, `${plain.split('.').slice(0, 2).join('.')}.`)
  const { kid } = await order('POST', 'keys/rotate', { revoke: true })
  assert.equal(kid, emulator.keys.current.kid)
  const beforeMs = Date.now()
  const { now } = await order('POST', 'clock', { skew_seconds: -120 })
  const shownMs = Date.parse(now) + 120_000
  assert.ok(shownMs >= beforeMs && shownMs <= Date.now(), now)
  await order('POST', 'clock', { skew_seconds: 0 })
})

test('faults are set, and requests told without their secrets', async () => {
  await order('POST', 'reset')
  await order('PUT', 'faults', { faults: [{ service: 'graph', action: { kind: 'status', status: 503 } }] })
  assert.equal((await ask(`${graph}/v1.0/applications`, { token: 'secret-of-mine' })).status, 503)
  const told = await order('GET', 'requests?service=graph')
  assert.equal(told.requests.length, 1)
  assert.deepEqual([told.requests[0].authorized, told.requests[0].status], [true, 503])
  assert.equal(JSON.stringify(told).includes('secret-of-mine'), false)
  await order('PUT', 'faults', { faults: [] })
  assert.equal((await ask(`${resourceManager}/`)).status, 401)
})

test('an order that is none is refused by name', async () => {
  const unknown = await ask(`${CONTROL}/nothing`)
  assert.equal(unknown.status, 400)
  assert.match(unknown.body.errors[0], /^GET \/_emulator\/nothing is none of POST reset/)
  const mint = await ask(`${CONTROL}/mint`, { body: { resource: 'x' } })
  assert.match(mint.body.errors[0], /^x has no identity/)
  assert.equal((await ask(`${authority}/_emulator/state`)).status, 404)
})

test('npm run emulator prints its addresses and the stanza, and takes its files with it', async () => {
  const child = spawn(process.execPath, [`${import.meta.dirname}/../../../emulator/main.ts`, '--port=0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) {
    lines.push(line)
    if (line.startsWith('curl')) break
  }
  const value = (name: string): string =>
    lines
      .findLast((line) => line.startsWith(name))
      ?.split(/\s+(?:=\s+)?/)
      .at(-1) ?? ''
  const { status, body } = await ask(`${value('http.authority')}/${SAMPLE.tenant}/.well-known/openid-configuration`)
  assert.deepEqual([status, body.issuer], [200, `${value('http.authority')}/${SAMPLE.tenant}/`])
  const query = 'api-version=2018-02-01&resource=https://management.azure.com/'
  const url = `${value('metadata of vm1')}/metadata/identity/oauth2/token?${query}`
  const token = await ask(url, { headers: { Metadata: 'true' } })
  assert.equal(decodeJwt(token.body.access_token).iss, body.issuer)
  assert.ok(lines.includes('cloud "TestCloud" {'))
  const caFile = JSON.parse(value('  ca_file')) as string
  assert.ok(existsSync(caFile))
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
  assert.equal(existsSync(caFile), false)
})
