// A server with several threads: what is kept of the cloud is there once for the process, and logins that hang keep
// nobody waiting who needs no cloud.
import { strict as assert } from 'node:assert'
import { after, test } from 'node:test'
import { startEmulator } from '../../../emulator/emulator.ts'
import { SAMPLE, SAMPLE_PLAN } from '../../../emulator/sample-plan.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { CONFIG } from '../../fixtures/cloud-server.ts'
import { undisturbed } from '../../fixtures/measured.ts'
import { api } from '../../fixtures/server-process.ts'
import { startThreadedServer } from '../../fixtures/threaded-server.ts'
import { until } from '../../fixtures/until.ts'

const emulator = await startEmulator({ plan: SAMPLE_PLAN })
const server = await startThreadedServer('serving', { clouds: parseConfig(emulator.stanza()).clouds ?? [] })
after(async () => {
  await server.stop()
  await emulator.close()
})
const group = `/subscriptions/${SAMPLE.subscription}/resourceGroups/rg-app`
const machine = `${group}/providers/Microsoft.Compute/virtualMachines/vm1`
const jwt = await emulator.minting.ofResource(machine)
const role = { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] }
for (const [path, body] of [
  ['sys/auth/cloud', { type: 'cloud' }],
  ['auth/cloud/config', { ...CONFIG, max_retries: 1 }],
  ['auth/cloud/role/r', role],
  ['sys/mounts/transit', { type: 'transit' }],
  ['transit/keys/k', {}],
] as const) {
  const { status, body: answer } = await server.call('POST', path, body)
  assert.ok(status < 300, `${path}: ${status} ${JSON.stringify(answer)}`)
}
const place = { subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
const logIn = () => api({ address: server.address }, 'POST', 'auth/cloud/login', { role: 'r', jwt, ...place })

test('P1: logins at all threads at once ask for everything once', async () => {
  const statuses = (await Promise.all(Array.from({ length: 100 }, logIn))).map(({ status }) => status)
  assert.deepEqual(new Set(statuses), new Set([200]))
  assert.equal(emulator.requests.count({ path: '/*/.well-known/*' }), 1)
  assert.equal(emulator.requests.count({ path: '**/keys' }), 1)
  assert.equal(emulator.requests.count({ path: '**/token' }), 1)
  assert.equal(emulator.requests.count({ service: 'resourceManager' }), 1)
})

/** Logins wait for 10 s. */
const MOST_MS = 9_000
let turn = 0

test('a dead cloud stalls nobody else: reads, encryptions and writes go on while a hundred logins hang', async () => {
  const { met } = await undisturbed(MOST_MS, whileLoginsHang)
  assert.deepEqual(met, new Set([200]))
})

/** Statuses of the logins at last, and what ended while it should not have. */
async function whileLoginsHang(): Promise<{ readonly ms: number; readonly met: Set<number | string> }> {
  const startMs = performance.now()
  const early: string[] = []
  // As it is by default: they wait for 10 s, in four attempts at most.
  // Another configuration: what was kept of the cloud is gone.
  const changed = { root_password_ttl: 1_000 + ++turn }
  await server.call('POST', 'auth/cloud/config', { max_retries: 3, retry_delay: -1, ...changed })
  const before = emulator.requests.count({ service: 'resourceManager' })
  emulator.faults.add({ service: 'resourceManager', action: { kind: 'hang' } })
  let ended = 0
  const logins = Array.from({ length: 100 }, () =>
    logIn().then(({ status }) => {
      ended += 1
      return status
    }),
  )
  await until(() => emulator.requests.count({ service: 'resourceManager' }) >= before + 1, 'the cloud is asked')
  // Whoever stood behind one of them would come when they end.
  for (let i = 0; i < 10; i++) {
    for (const [kind, call] of [
      ['read', () => server.call('GET', 'auth/cloud/role/r')],
      ['encrypt', () => server.call('POST', 'transit/encrypt/k', { plaintext: 'aGVsbG8=' })],
      ['write', () => server.call('POST', `auth/cloud/role/other-${i}`, role)],
    ] as const) {
      assert.ok((await call()).status < 300, kind)
      if (ended > 0) early.push(`the logins ended before a ${kind}`)
    }
  }
  // The next attempt is answered.
  emulator.faults.clear()
  const met = new Set([...(await Promise.all(logins)), ...early])
  return { ms: performance.now() - startMs, met }
}
