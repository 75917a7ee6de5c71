// Changes of the credential: the stored one works at every moment, also after a crash at any of them, and what was
// begun comes to an end.

import { strict as assert } from 'node:assert'
import { after, afterEach, beforeEach, test } from 'node:test'
import type { FaultAction } from '../../emulator/faults.ts'
import { SAMPLE } from '../../emulator/sample-plan.ts'
import { ROOT } from '../../src/api/namespace.ts'
import type { CloudAuth } from '../../src/engines/cloud/cloud.ts'
import { leftoversOf } from '../../src/engines/cloud/config.ts'
import { dueMs } from '../../src/engines/cloud/rotation-clock.ts'
import type { Outbound } from '../../src/lib/outbound.ts'
import { type CloudServer, startCloudServer } from '../fixtures/cloud-server.ts'
import { until } from '../fixtures/until.ts'

// What waits in the background waits a sixth of its time.
const SPEED = 6
let server: CloudServer
const first = await startCloudServer({ speed: SPEED })
const started: CloudServer[] = [first]
after(() => Promise.all(started.map((each) => each.stop())))

type Crash = { readonly path: string; readonly when: 'before' | 'after' }
/** The next request to such a path is the last thing that this process does. */
let crash: Crash | undefined
let crashed = false

const network = (real: Outbound): Outbound => ({
  request: async (request) => {
    const isLast = crash !== undefined && request.url.includes(crash.path)
    if (isLast && crash?.when === 'before') crashed = true
    if (crashed) throw new Error('the power is gone')
    const answer = await real.request(request)
    if (isLast) crashed = true
    return answer
  },
})

beforeEach(async () => {
  crash = undefined
  crashed = false
  server = await startCloudServer({ speed: SPEED, network, emulator: first.emulator })
  first.emulator.directory.secretDelayMs = 0
})
afterEach(() => engine().stop())

const application = () => {
  const found = server.emulator.directory.findApplication(SAMPLE.tenant, SAMPLE.clientId)
  assert.ok(found)
  return found
}
const secrets = () => application().secrets.map(({ secretText }) => secretText)
const names = () => application().secrets.map(({ displayName }) => displayName)
const rotate = () => server.call('POST', 'auth/cloud/rotate-root')
const config = async () => (await server.call('GET', 'auth/cloud/config')).body
const engine = (one = server) => {
  const mount = one.node.mounts.find(ROOT, 'auth/cloud/')
  return one.node.mounts.engineOf(mount?.uuid ?? '') as CloudAuth
}
const stored = async (one = server) => (await engine(one).configs.find()) ?? assert.fail('nothing is stored')

/** Names of which nothing was ever made are watched for some minutes more. */
const settled = () =>
  until(async () => {
    const { rotation } = await stored()
    const left = leftoversOf(rotation)
    return rotation.pending === undefined && left.every(({ keyId, name }) => keyId === '' && !names().includes(name))
  }, 'nothing is left to do')

/** A login that has the cloud asked, by a token of ours that is fetched anew. */
async function logIn(one = server): Promise<number> {
  await one.role('r', { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] })
  engine(one).reset()
  const jwt = await one.emulator.minting.ofResource(one.vm('vm1'))
  const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
  const { status, body } = await one.login({ role: 'r', jwt, ...place })
  assert.equal(status, 200, JSON.stringify(body))
  return status
}

test('R1, R5: a new secret is stored, proven, used; the operator’s stays in the directory and is named', async () => {
  const { directory } = server.emulator
  directory.addSecret(application(), { displayName: 'somebody else’s' }, 0)
  assert.equal((await rotate()).status, 204)
  await settled()
  const { secret } = await stored()
  assert.equal(secret?.writtenBy, 'service')
  assert.ok(secrets().includes(SAMPLE.clientSecret) && secrets().includes(secret?.value ?? ''))
  const { data, warnings } = await config()
  assert.equal(data?.client_secret, undefined)
  assert.ok(Date.parse(String(data?.root_password_expiration_date)) > server.emulator.clock.nowMs())
  const own = application().secrets.find(({ secretText }) => secretText === SAMPLE.clientSecret)
  assert.match(String(warnings), new RegExp(own?.keyId ?? 'none'))
  await logIn()
  // The next one takes away the one that we made, and nothing else.
  assert.equal((await rotate()).status, 204)
  await settled()
  assert.ok(!secrets().includes(secret?.value ?? ''))
  assert.deepEqual(names().length, 3)
  assert.ok(names().includes('somebody else’s'))
  await logIn()
  // It is named as long as it is there.
  assert.match(String((await config()).warnings), new RegExp(own?.keyId ?? 'none'))
  const { secrets: all } = application()
  all.splice(
    all.findIndex((one) => one === own),
    1,
  )
  assert.equal((await rotate()).status, 204)
  await settled()
  assert.doesNotMatch(String((await config()).warnings), new RegExp(own?.keyId ?? 'none'))
})

test('R5: a secret made by another server is not named as the operator’s, however it begins', async (context) => {
  const { directory } = server.emulator
  const alike = `${SAMPLE.clientSecret.slice(0, 3)}~made-by-another`
  const other = directory.addSecret(application(), { displayName: 'keywright-of-another', secretText: alike }, 0)
  context.after(() => directory.removeSecret(application(), other.keyId))
  assert.equal((await rotate()).status, 204)
  await settled()
  const own = application().secrets.find(({ secretText }) => secretText === SAMPLE.clientSecret)
  const warnings = String((await config()).warnings)
  assert.match(warnings, new RegExp(own?.keyId ?? 'none'))
  assert.doesNotMatch(warnings, new RegExp(other.keyId))
})

test('R1: a lifetime of 0 is the default: no secret is made that has ended', async () => {
  await server.call('POST', 'auth/cloud/config', { root_password_ttl: 0 })
  assert.equal((await rotate()).status, 204)
  await settled()
  const { secret } = await stored()
  assert.equal(secret?.writtenBy, 'service')
  const left = (secret?.expiresAtMs ?? 0) - server.emulator.clock.nowMs()
  assert.ok(left > 4_379 * 3_600_000 && left <= 4_380 * 3_600_000, String(left))
})

test('R1, R9: until the directory takes the new secret the old one is used, and shown', async () => {
  server.emulator.directory.secretDelayMs = 86_400_000
  assert.equal((await rotate()).status, 204)
  const { data } = await config()
  assert.deepEqual([data?.rotation_pending, data?.client_secret], [true, SAMPLE.clientSecret])
  await logIn()
  assert.equal((await rotate()).status, 400)
  // Now it takes it.
  for (const each of application().secrets) Object.assign(each, { usableFromMs: 0 })
  await settled()
  assert.equal((await stored()).secret?.writtenBy, 'service')
  await logIn()
})

test('R9: a secret that the directory never takes is given up and removed', async () => {
  const other = await startCloudServer()
  started.push(other)
  server = other
  other.emulator.directory.secretDelayMs = 86_400_000
  assert.equal((await rotate()).status, 204)
  other.advance(601)
  // The clock of the background stands still here: it is asked to look.
  for (let i = 0; i < 3; i++) await engine().rotation.proceed()
  assert.deepEqual(secrets(), [SAMPLE.clientSecret])
  assert.equal((await stored()).secret?.value, SAMPLE.clientSecret)
  assert.ok(other.lines.some((line) => line.startsWith('error') && line.includes('does not take')))
})

test('R2: what is missing is told', async () => {
  const say = async () => {
    const { status, body } = await rotate()
    return [status, String(body.errors)] as const
  }
  await server.configure({ client_id: '' })
  assert.match((await say()).join(), /^400,client_id/)
  await server.configure({ client_id: '99999999-9999-4999-8999-999999999999' })
  assert.equal((await say())[0], 502)
  await server.configure()
  const twice = server.emulator.faults.add({
    service: 'graph',
    action: {
      kind: 'edit',
      edit: (body) => ({ ...body, value: [(body.value as never[])[0], (body.value as never[])[0]] as never }),
    },
  })
  assert.match((await say()).join(), /^400,multiple applications/)
  twice()
  server.emulator.faults.add({ service: 'graph', action: { kind: 'merge', json: { value: [] } } })
  assert.match((await say()).join(), /^400,no application/)
  await server.call('DELETE', 'auth/cloud/config')
  assert.match((await say()).join(), /^400,the mount is not configured/)
})

test('R3: whatever call to the directory fails, the state is clean and the next attempt succeeds', async () => {
  for (const path of ['/v1.0/applications', '**/addPassword', '**/removePassword']) {
    for (const [action, wanted] of [
      [{ kind: 'status', status: 403 }, 403],
      [{ kind: 'status', status: 429 }, 502],
      [{ kind: 'status', status: 500 }, 502],
      [{ kind: 'reset' }, 502],
    ] as const) {
      const undo = server.emulator.faults.add({ service: 'graph', path, action: action as FaultAction })
      const { status } = await rotate()
      assert.equal(status, path.includes('remove') ? 204 : wanted, `${path} ${JSON.stringify(action)}`)
      undo()
      await settled()
      await logIn()
      assert.equal((await rotate()).status, 204)
      await settled()
    }
  }
  assert.equal(secrets().length, 2, 'the operator’s, and the newest')
})

test('R7: an operator who writes a secret meanwhile wins, and the pending one goes', async () => {
  server.emulator.directory.secretDelayMs = 86_400_000
  assert.equal((await rotate()).status, 204)
  const own = server.emulator.directory.addSecret(application(), { secretText: 'written by an operator' }, 0)
  await server.call('POST', 'auth/cloud/config', { client_secret: own.secretText })
  await settled()
  assert.deepEqual(secrets(), [SAMPLE.clientSecret, own.secretText])
  assert.equal((await stored()).secret?.value, own.secretText)
  await logIn()
})

test('R8: of two rotations at once one is refused, and nothing is left over', async () => {
  server.emulator.directory.secretDelayMs = 300
  const statuses = (await Promise.all([rotate(), rotate()])).map(({ status }) => status)
  assert.deepEqual(statuses.toSorted(), [204, 400])
  await settled()
  assert.equal(secrets().length, 2)
})

// After a crash nothing is stored and nothing is sent: what was stored before it is all that is left.
for (const [name, path, when] of [
  ['before the new secret is asked for', '/applications?', 'before'],
  ['while the new secret is asked for', '/addPassword', 'before'],
  ['after it was made, before it is stored', '/addPassword', 'after'],
  ['before a token was fetched with it', '/oauth2/v2.0/token', 'before'],
  ['before the old one is removed', '/removePassword', 'before'],
  ['after the old one was removed', '/removePassword', 'after'],
] as const) {
  test(`R4: a crash ${name} leaves a credential that works, and no secret that nobody knows`, async () => {
    assert.equal((await rotate()).status, 204)
    await settled()
    const { transaction } = server.store
    server.store.transaction = (work) =>
      crashed
        ? Promise.reject(new Error('the power is gone'))
        : (transaction.call(server.store, work as never) as never)
    crash = { path, when }
    await rotate()
    await until(() => crashed, 'the crash')
    engine().stop()
    server.store.transaction = transaction
    crash = undefined
    crashed = false
    // It starts again, from what is stored.
    engine().start()
    await settled()
    await logIn()
    const { secret } = await stored()
    assert.deepEqual(secrets().toSorted(), [SAMPLE.clientSecret, secret?.value ?? ''].toSorted())
  })
}

test('R10: the service changes it by itself, and not where that is switched off', async () => {
  const other = await startCloudServer()
  started.push(other)
  engine().stop()
  server = other
  await server.configure({ rotation_period: 10 })
  other.advance(11)
  engine().rotationClock.soon()
  await until(async () => secrets().length > 1, 'a change by the service')
  await settled()
  await server.configure({ rotation_period: 3600 })
  const now = other.emulator.clock.nowMs()
  const found = await stored()
  assert.equal(dueMs(found, now), now + 3_600_000)
  assert.equal(dueMs({ ...found, disableAutomatedRotation: true }, now), undefined)
  const scheduled = { ...found, rotationPeriodSeconds: 0, rotationSchedule: '0 3 * * *' }
  assert.equal(dueMs(scheduled, now), Date.UTC(2026, 0, 1, 3))
  assert.equal(
    dueMs({ ...scheduled, rotation: { ...found.rotation, lastAtMs: Date.UTC(2026, 0, 1, 3) } }, now),
    Date.UTC(2026, 0, 2, 3),
  )
})

test('R12: no secret is in an answer, in the log, or in clear in the store', async () => {
  const answers = [await rotate(), { body: await config() }]
  await settled()
  answers.push({ body: await config() })
  const { secret } = await stored()
  const said = `${JSON.stringify(answers)}${server.lines.join()}`
  assert.ok(secret !== undefined && !said.includes(secret.value))
  for (const { key, value } of await server.store.scan('', '', 10_000))
    assert.ok(!`${key}${value.toString('latin1')}`.includes(secret.value))
})
