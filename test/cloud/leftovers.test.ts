// Secrets that this mount made, or may have made, in its application: none is forgotten there, and none holds up what
// comes next.

import { strict as assert } from 'node:assert'
import { after, beforeEach, test } from 'node:test'
import { SAMPLE } from '../../emulator/sample-plan.ts'
import { ROOT } from '../../src/api/namespace.ts'
import type { CloudAuth } from '../../src/engines/cloud/cloud.ts'
import { leftoversOf } from '../../src/engines/cloud/config.ts'
import { dueMs, RotationClock } from '../../src/engines/cloud/rotation-clock.ts'
import { type CloudServer, startCloudServer } from '../fixtures/cloud-server.ts'

/** The next answer to this call is lost on its way. */
let lost = ''
const server: CloudServer = await startCloudServer({
  network: (real) => ({
    request: async (request) => {
      const answer = await real.request(request)
      if (lost === '' || !request.url.includes(lost)) return answer
      lost = ''
      throw new Error('the answer was lost')
    },
  }),
})
after(() => server.stop())

const engine = (): CloudAuth => {
  const mount = server.node.mounts.find(ROOT, 'auth/cloud/')
  return server.node.mounts.engineOf(mount?.uuid ?? '') as CloudAuth
}
const stored = async () => (await engine().configs.find()) ?? assert.fail('nothing is stored')
const leftovers = async () => leftoversOf((await stored()).rotation)
const application = () => {
  const found = server.emulator.directory.findApplication(SAMPLE.tenant, SAMPLE.clientId)
  return found ?? assert.fail('the sample has one')
}
const isThere = (keyId: string) => application().secrets.some((each) => each.keyId === keyId)
const proceed = () => engine().rotation.proceed()

/** A new secret of the service, in use. */
async function rotate(): Promise<string> {
  await engine().rotation.begin()
  await proceed()
  const { secret } = await stored()
  assert.equal(secret?.writtenBy, 'service')
  return secret?.keyId ?? ''
}

beforeEach(async () => {
  lost = ''
  server.emulator.faults.clear()
  await server.call('DELETE', 'auth/cloud/config')
  await server.configure()
  // The tests say when something is done.
  engine().rotationClock.stop()
})

test('a secret whose making was not heard of is watched for ten minutes, and removed when it shows', async () => {
  const before = application().secrets.length
  lost = 'addPassword'
  await assert.rejects(engine().rotation.begin())
  assert.equal(application().secrets.length, before + 1)
  // The directory does not show it yet.
  const hide = server.emulator.faults.add({
    service: 'graph',
    action: {
      kind: 'edit',
      edit: (body) => ({
        ...body,
        value: (body.value as object[]).map((each) => ({ ...each, passwordCredentials: [] })) as never,
      }),
    },
  })
  assert.equal(await proceed(), 'leftovers')
  server.advance(300)
  assert.equal(await proceed(), 'leftovers')
  hide()
  assert.equal(await proceed(), 'nothing')
  assert.equal(application().secrets.length, before)
})

test('a name of which nothing was made is given up after ten minutes, one that was refused at once', async () => {
  server.emulator.faults.add({
    service: 'graph',
    path: '**/addPassword',
    action: { kind: 'status', status: 500 },
    times: 1,
  })
  await assert.rejects(engine().rotation.begin())
  server.advance(599)
  assert.equal(await proceed(), 'leftovers')
  server.advance(2)
  assert.equal(await proceed(), 'nothing')
  server.emulator.faults.add({
    service: 'graph',
    path: '**/addPassword',
    action: { kind: 'status', status: 403 },
    times: 1,
  })
  await assert.rejects(engine().rotation.begin(), /Application.ReadWrite.OwnedBy/)
  assert.deepEqual(await leftovers(), [])
})

test('of two names of which nothing was heard each is watched for its own ten minutes', async () => {
  server.emulator.faults.add({
    service: 'graph',
    path: '**/addPassword',
    action: { kind: 'status', status: 500 },
    times: 2,
  })
  await assert.rejects(engine().rotation.begin())
  server.advance(400)
  await assert.rejects(engine().rotation.begin())
  const [, second] = (await leftovers()).toSorted((a, b) => (a.sinceMs ?? 0) - (b.sinceMs ?? 0))
  server.advance(201)
  assert.equal(await proceed(), 'leftovers')
  assert.deepEqual(await leftovers(), [second])
  server.advance(400)
  assert.equal(await proceed(), 'nothing')
})

test('names that are given up at the same time are forgotten together', async () => {
  const action = { kind: 'status', status: 500 } as const
  server.emulator.faults.add({ service: 'graph', path: '**/addPassword', action, times: 2 })
  for (let i = 0; i < 2; i++) await assert.rejects(engine().rotation.begin())
  assert.equal((await leftovers()).length, 2)
  server.advance(601)
  assert.equal(await proceed(), 'nothing')
  assert.deepEqual(await leftovers(), [])
})

test('after a change of application the secret is removed where it is', async () => {
  const own = await rotate()
  const secretText = 'another application’s secret'
  const other = server.emulator.directory.addApplication({
    tenantId: SAMPLE.tenant,
    permissions: ['Application.ReadWrite.All'],
  })
  server.emulator.directory.addSecret(other, { secretText }, 0)
  await server.configure({ client_id: other.clientId, client_secret: secretText })
  engine().rotationClock.stop()
  const { body } = await server.call('GET', 'auth/cloud/config')
  assert.match(String(body.warnings), new RegExp(`${own} of application ${SAMPLE.clientId}`))
  assert.ok(isThere(own))
  assert.equal(await proceed(), 'nothing')
  assert.ok(!isThere(own))
})

test('a secret in another directory is kept in mind, named, and removed when the mount is back there', async () => {
  const own = await rotate()
  await server.configure({ tenant_id: SAMPLE.otherTenant, client_secret: 'x' })
  engine().rotationClock.stop()
  server.emulator.requests.clear()
  assert.equal(await proceed(), 'leftovers')
  assert.equal(server.emulator.requests.count({ service: 'graph' }), 0)
  await server.configure()
  engine().rotationClock.stop()
  assert.ok(isThere(own))
  assert.equal(await proceed(), 'nothing')
  assert.ok(!isThere(own))
})

test('deleting the configuration names what stays in the directory', async () => {
  const own = await rotate()
  const { status, body } = await server.call('DELETE', 'auth/cloud/config')
  assert.equal(status, 200)
  assert.match(String(body.warnings), new RegExp(`${own} of application ${SAMPLE.clientId}.*Remove them there`))
  await server.configure()
  engine().rotationClock.stop()
  assert.equal((await server.call('DELETE', 'auth/cloud/config')).status, 204)
})

/** Waits that the clock asks for, instead of waiting; each look is made by hand. */
function watched() {
  const waits: number[] = []
  let look = (): void => {}
  const timers = {
    after: (ms: number, work: () => void) => {
      waits.push(ms)
      look = work
      return { cancel: () => {} }
    },
    sleep: async () => {},
  }
  const { world, configs, rotation } = engine()
  const clock = new RotationClock({
    world: { ...world, timers },
    log: () => {},
    configs,
    rotation,
    changesSecret: () => true,
  })
  const next = async (): Promise<number> => {
    const { length } = waits
    look()
    while (waits.length === length) await new Promise((resolve) => setImmediate(resolve))
    return waits.at(-1) ?? Number.NaN
  }
  return { clock, next }
}

test('what cannot be removed is tried less and less often, and does not hold up the change that is due', async () => {
  await rotate()
  const secretText = SAMPLE.clientSecret
  await server.configure({ rotation_period: 3_600, client_secret: secretText })
  engine().rotationClock.stop()
  server.emulator.faults.add({ service: 'graph', path: '**/removePassword', action: { kind: 'status', status: 403 } })
  const { clock, next } = watched()
  clock.start()
  const waits: number[] = []
  for (let i = 0; i < 12; i++) waits.push(await next())
  assert.deepEqual(waits.slice(0, 3), [5_000, 10_000, 20_000])
  assert.equal(waits.at(-1), 3_600_000)
  const { rotation } = await stored()
  assert.deepEqual([rotation.over.length, rotation.pending], [1, undefined])
  server.advance(3_601)
  await next()
  assert.notEqual((await stored()).rotation.pending, undefined)
  await next()
  assert.equal((await stored()).secret?.writtenBy, 'service')
})

test('a new secret that the directory does not take yet is tried once a minute in the end', async () => {
  server.emulator.directory.secretDelayMs = 86_400_000
  await engine().rotation.begin()
  const { clock, next } = watched()
  clock.start()
  const waits: number[] = []
  for (let i = 0; i < 6; i++) waits.push(await next())
  server.emulator.directory.secretDelayMs = 0
  assert.deepEqual(waits, [5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
})

test('R10: a period counts from when it was written, through every unseal and other writes', async () => {
  await server.configure({ rotation_period: 3_600 })
  const writtenMs = server.emulator.clock.nowMs()
  server.advance(1_800)
  await server.call('POST', 'auth/cloud/config', { max_retries: 1 })
  const nowMs = server.emulator.clock.nowMs()
  // As at an unseal now.
  assert.equal(dueMs(await stored(), nowMs), writtenMs + 3_600_000)
  await server.call('POST', 'auth/cloud/config', { rotation_period: 7_200 })
  assert.equal(dueMs(await stored(), 0), nowMs + 7_200_000)
  // Written by an earlier version: from the unseal.
  assert.equal(dueMs({ ...(await stored()), periodFromMs: null }, nowMs), nowMs + 7_200_000)
})
