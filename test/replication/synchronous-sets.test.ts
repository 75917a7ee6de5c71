// What a cluster that takes over must not lack of what operators were answered, and of what was given out: writes that
// wait for a synchronous secondary although they are not all well, or are not data that the set shares.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SynchronousSettings } from '../../src/replication/synchronous/settings.ts'
import { DR, operationToken, POLICY, promote } from '../fixtures/failing-over.ts'
import { bothWays, followedServers } from '../fixtures/replicated-servers.ts'

const ALWAYS: SynchronousSettings = { ids: ['two'], timeoutMs: undefined }
const PERFORMANCE = 'sys/replication/performance/primary'
const WAY_MS = 50

async function synchronousPair(seed: number) {
  const stage = await followedServers(seed)
  const { servers, primary, secondary } = stage
  await servers.time.until(primary.server.node.replication.waitFor(ALWAYS))
  await servers.time.pass(2_000)
  const slow = (delayMs = WAY_MS): void => {
    for (const [from, to] of bothWays(primary, secondary)) servers.network.set(from, to, { delayMs })
  }
  const state = async (): Promise<string | undefined> => {
    const { synchronous } = await primary.status()
    return (synchronous as readonly { readonly state: string }[] | undefined)?.[0]?.state
  }
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startMs = servers.time.nowMs
    await work()
    return servers.time.nowMs - startMs
  }
  assert.equal(await state(), 'in-step')
  return { ...stage, token: await operationToken(primary), slow, state, timed }
}

async function withRegion(seed: number) {
  const stage = await synchronousPair(seed)
  const { servers, primary, state } = stage
  const region = await servers.start('region')
  await servers.activate(primary, region, 'region', 'performance')
  await servers.level(primary, region, 60_000, 'performance')
  await servers.time.pass(3_000)
  assert.equal(await state(), 'in-step')
  return { ...stage, region }
}

test('a secondary that is revoked while clients write is unknown from then on, and waited for no more', async () => {
  const { servers, primary, slow, state } = await synchronousPair(900)
  slow(10)
  for (let each = 0; each < 60; each++) {
    primary.server.call('PUT', `sys/policies/acl/load${each}`, POLICY, primary.rootToken).catch(() => {})
    await servers.time.pass(1)
  }
  await primary.must('POST', `${DR}/primary/revoke-secondary`, { id: 'two' })
  await servers.time.pass(3_000)
  assert.equal(await state(), 'unknown')
  assert.equal(primary.server.node.replication.synchronous?.waiting, 0)
})

test('a filter that was answered is there when the synchronous secondary takes over', async () => {
  const { servers, primary, secondary, token, slow } = await withRegion(920)
  await primary.must('POST', 'sys/mounts/kept', { type: 'transit' })
  slow()
  await primary.must('POST', `${PERFORMANCE}/paths-filter/region`, { mode: 'deny', paths: ['kept'] })
  primary.kill()
  await servers.time.pass(20_000)
  // Without force: nothing is known to be missing.
  assert.equal((await promote(secondary, token)).status, 200)
  await servers.time.pass(5_000)
  const { body } = await secondary.call('GET', `${PERFORMANCE}/paths-filter/region`, undefined, primary.rootToken)
  assert.deepEqual(body.data, { mode: 'deny', paths: ['kept/'] })
})

test('what sends somebody away waits in the set for performance, not in that of the secondary itself', async () => {
  const { primary, slow, timed } = await withRegion(921)
  slow()
  const operations = [
    () => primary.must('POST', `${PERFORMANCE}/paths-filter/region`, { mode: 'deny', paths: [] }),
    () => primary.must('DELETE', `${PERFORMANCE}/paths-filter/region`),
    () => primary.must('POST', `${PERFORMANCE}/rotate-authority`),
    () => primary.must('POST', `${PERFORMANCE}/revoke-secondary`, { id: 'region' }),
    () => primary.must('POST', `${PERFORMANCE}/disable`),
  ]
  for (const [at, operation] of operations.entries()) {
    const ms = await timed(operation)
    assert.ok(ms >= 2 * WAY_MS, `${at}: ${ms} ms`)
  }
  assert.equal(await timed(() => primary.must('POST', `${DR}/primary/revoke-secondary`, { id: 'two' })), 0)
})

test('a batch with a bad item gives out ciphertexts of a new key only when the secondary has the key', async () => {
  const { servers, primary, slow, secondary, token } = await synchronousPair(930)
  await primary.must('POST', 'sys/mounts/t', { type: 'transit' })
  await servers.time.pass(1_000)
  slow()
  const batch = { batch_input: [{ plaintext: 'YQ==' }, { plaintext: '!!' }] }
  const { status, body } = await servers.time.until(primary.server.call('POST', 't/encrypt/new', batch, 'root'))
  const [{ ciphertext } = { ciphertext: '' }] = (body.data?.batch_results ?? []) as { ciphertext: string }[]
  assert.equal(status, 400)
  assert.match(ciphertext, /^vault:v1:/)
  primary.kill()
  await servers.time.pass(20_000)
  assert.equal((await promote(secondary, token)).status, 200)
  await servers.time.pass(2_000)
  const decrypted = await secondary.call('POST', 't/decrypt/new', { ciphertext }, primary.rootToken)
  assert.equal(decrypted.status, 200, JSON.stringify(decrypted.body))
})
