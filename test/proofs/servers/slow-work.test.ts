// Slow work in a real server with its threads: it holds nobody up, and a thread of the pool may die.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { aloneTelemetry } from '../../../src/assembly/node-telemetry.ts'
import { inlineWork, JobFailed, JobForgotten, Overloaded } from '../../../src/lib/slow-work.ts'
import { realWorld } from '../../../src/lib/world.ts'
import { poolMeterOf } from '../../../src/process/thread-telemetry.ts'
import { CELL } from '../../../src/telemetry/cells.ts'
import { startMemoryServer } from '../../fixtures/memory-server.ts'
import { readExposition } from '../../fixtures/prometheus-text.ts'
import { startThreadedServer, type ThreadedServer } from '../../fixtures/threaded-server.ts'

let server: ThreadedServer
before(async () => {
  server = await startThreadedServer('slow')
  await call('POST', 'sys/mounts/transit', { type: 'transit' })
  await call('POST', 'transit/keys/k')
})
after(() => server.stop())

const call: ThreadedServer['call'] = (method, path, body) => server.call(method, path, body)

test('no thread of the pool is there before it is needed', () => {
  assert.equal(server.threads.length, 0)
})

test('N-14 P-46 while RSA keys are generated, others encrypt, decrypt and write durably', async () => {
  await call('POST', 'transit/keys/pair', { type: 'rsa-2048' })
  const { body } = await call('POST', 'transit/encrypt/pair', { plaintext: 'YQ==' })
  let running = 4
  const generations = Array.from({ length: running }, async (_, n) => {
    const { status } = await call('POST', `transit/keys/rsa${n}`, { type: 'rsa-4096' })
    running--
    return status
  })
  let [encrypted, decrypted, written] = [0, 0, 0]
  while (running > 0) {
    for (let n = 0; n < 5; n++) {
      if ((await call('POST', 'transit/encrypt/k', { plaintext: 'YQ==' })).status === 200) encrypted++
    }
    if ((await call('POST', 'transit/decrypt/pair', { ciphertext: body.data?.ciphertext })).status === 200) decrypted++
    if ((await call('POST', `transit/keys/new${written}`)).status === 200) written++
  }
  assert.deepEqual(await Promise.all(generations), [200, 200, 200, 200])
  assert.ok(encrypted >= 25 && decrypted >= 5 && written >= 5, `${encrypted} ${decrypted} ${written}`)
})

test('a batch that is split comes back whole', async () => {
  const batch_input = Array.from({ length: 2000 }, (_, n) => ({ plaintext: btoa(`${n}`), reference: `${n}` }))
  const { status, body } = await call('POST', 'transit/encrypt/k', { batch_input })
  assert.equal(status, 200)
  const opened = await call('POST', 'transit/decrypt/k', { batch_input: body.data?.batch_results })
  assert.deepEqual(opened.body.data?.batch_results, batch_input)
})

test('jobs of the pool are counted, and none waits at the end', async () => {
  const response = await fetch(`${server.address}/v1/sys/metrics?format=prometheus`, {
    headers: { 'X-Vault-Token': 'root' },
  })
  const { samples } = readExposition(await response.text())
  // Those of the tests before: five new keys, and who asked them to decrypt.
  const done = samples.get('keywright_slow_jobs_total') ?? 0
  assert.ok(done >= 10, `${done} jobs`)
  assert.equal(samples.get('keywright_slow_job_wait_seconds_count'), done)
  for (const takes of ['short', 'long'])
    assert.equal(samples.get(`keywright_slow_jobs_waiting{takes="${takes}"}`), 0, takes)
})

test('short jobs that wait and long ones are told apart', () => {
  const { telemetry } = aloneTelemetry(realWorld())
  const meter = poolMeterOf({ telemetry, world: realWorld() })
  meter.waiting('short', 3)
  meter.waiting('long', 2)
  meter.refused()
  const { row } = telemetry
  assert.deepEqual([row[CELL.slowShort], row[CELL.slowLong], row[CELL.slowRefused]], [3, 2, 1])
})

test('F-16 threads of the pool die: the caller of a job gets an error, those who wait get their keys', async () => {
  const before = [...server.threads]
  assert.ok(before.length >= 2)
  const names = ['i1', 'i2', 'i3', 'i4', 'i5', 'i6']
  const generations = names.map((name) => call('POST', `transit/keys/${name}`, { type: 'rsa-4096' }))
  // With the first answer another one has begun, and others wait.
  await Promise.race(generations)
  await Promise.all(before.map((worker) => worker.terminate()))
  const answers = await Promise.all(generations)
  const failed = names.filter((_, n) => answers[n]?.status === 500)
  assert.ok(failed.length >= 1 && failed.length < names.length - 1, `${answers.map(({ status }) => status)}`)
  for (const name of names) {
    assert.equal((await call('GET', `transit/keys/${name}`)).status, failed.includes(name) ? 404 : 200)
  }
  assert.equal((await call('POST', 'transit/keys/after', { type: 'rsa-2048' })).status, 200)
  assert.equal(server.threads.length, 2 * before.length)
  assert.deepEqual(server.fatal, [])
})

const REFUSALS = [
  { cause: new Overloaded('full'), status: 503, says: /More slow work waits/ },
  { cause: new JobForgotten('sealed'), status: 503, says: /sealed/ },
  { cause: new JobFailed('RangeError'), status: 500, says: /internal error/ },
]
for (const { cause, status, says } of REFUSALS) {
  test(`a key that the pool does not make because of ${cause.name}: ${status}, and no key`, async () => {
    const slow = { ...inlineWork(realWorld()), run: () => Promise.reject(cause) }
    const server = await startMemoryServer({ slow })
    await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
    const answer = await server.call('POST', 'transit/keys/k', { type: 'rsa-2048' })
    assert.equal(answer.status, status)
    assert.match(String(answer.body.errors), says)
    assert.equal((await server.call('GET', 'transit/keys/k')).status, 404)
  })
}
