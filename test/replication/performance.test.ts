// Whole servers in virtual time: a performance secondary takes what the set shares, and keeps what is its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyText, type WireRequest } from '../../src/core/exchange.ts'
import { POLICY } from '../fixtures/failing-over.ts'
import { type Headers, wireRequest } from '../fixtures/memory-server.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers } from '../fixtures/replicated-servers.ts'

test('a performance secondary has the mounts, keys and policies of its primary, and none of its tokens', async () => {
  const { servers, primary, secondary } = await performanceServers(1)
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', 'transit/keys/k')
  await servers.level(primary, secondary, 60_000, 'performance')
  assert.equal((await secondary.call('GET', 'transit/keys/k', undefined, 'root')).status, 403)
  const made = await secondary.must('POST', 'transit/encrypt/k', { plaintext: 'aGVsbG8=' })
  const opened = await primary.must('POST', 'transit/decrypt/k', { ciphertext: made.body.data?.ciphertext })
  assert.equal(opened.body.data?.plaintext, 'aGVsbG8=')
  const health = await secondary.call('GET', 'sys/health', undefined, '')
  assert.equal(health.status, 200)
})

test('what the set shares is written by the primary, and read back here', async () => {
  const { servers, primary, secondary } = await performanceServers(2)
  await secondary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await secondary.must('POST', 'transit/keys/made-here')
  assert.equal((await primary.must('GET', 'transit/keys/made-here')).body.data?.latest_version, 1)
  await servers.level(primary, secondary, 60_000, 'performance')
  assert.equal((await secondary.must('GET', 'transit/keys/made-here')).body.data?.latest_version, 1)
  await secondary.must('POST', 'transit/encrypt/made-here', { plaintext: 'aGVsbG8=' })
  servers.cut(primary, secondary)
  await servers.time.pass(20_000)
  assert.equal((await secondary.call('POST', 'transit/keys/another')).status, 503)
  await secondary.must('POST', 'transit/encrypt/made-here', { plaintext: 'aGVsbG8=' })
  servers.heal(primary, secondary)
  await servers.time.pass(20_000)
  await secondary.must('POST', 'transit/keys/another')
})

test('4c.20: what an answer of the primary had is awaited on a secondary, until the link has brought it', async () => {
  const { servers, primary, secondary } = await performanceServers(3)
  await servers.level(primary, secondary, 60_000, 'performance')
  const send = (to: typeof primary, method: string, body: unknown, headers: Headers = {}) => {
    const request = wireRequest(method, 'sys/policies/acl/p', body, to.rootToken ?? 'root')
    const whole = { ...request, headers: { ...request.headers, ...headers } } as WireRequest
    return servers.time.until(to.server.node.core.handle(whole))
  }
  for (let round = 0; round < 5; round++) {
    const written = await send(primary, 'POST', { policy: `path "p${round}" {}` })
    const index = written.headers?.['X-Vault-Index'] ?? ''
    const read = await send(secondary, 'GET', undefined, { index, inconsistent: 'await-state' })
    assert.deepEqual([read.status, bodyText(read).includes(`p${round}`)], [200, true], bodyText(read))
  }
  servers.cut(primary, secondary)
  const { headers } = await send(primary, 'POST', { policy: 'path "cut" {}' })
  const startMs = servers.time.nowMs
  const late = await send(secondary, 'GET', undefined, { index: headers?.['X-Vault-Index'] ?? '' })
  assert.deepEqual([late.status, servers.time.nowMs - startMs], [412, 100])
})

const FAMILY = 'sys/replication/performance'

/** The primary is demoted while its secondary lacks the last write; with the indexes of the answers to all writes. */
async function demotedAhead(seed: number) {
  const { servers, primary, secondary } = await performanceServers(seed)
  const send = (to: ReplicatedServer, method: string, path: string, index = '') => {
    const request = wireRequest(method, path, method === 'GET' ? undefined : POLICY, to.rootToken ?? 'root')
    const headers = index === '' ? request.headers : { ...request.headers, index }
    return servers.time.until(to.server.node.core.handle({ ...request, headers }))
  }
  const written = async (to: ReplicatedServer, path: string): Promise<string> =>
    (await send(to, 'POST', path)).headers?.['X-Vault-Index'] ?? assert.fail('it has one')
  const read = async (to: ReplicatedServer, index: string, path = 'sys/policies/acl/before') => {
    const answer = await send(to, 'GET', path, index)
    if (answer.status < 400) return String(answer.status)
    return `${answer.status}${bodyText(answer).includes('was lost') ? ' lost' : ''}`
  }
  const before = [
    await written(primary, 'sys/policies/acl/before'),
    await written(secondary, 'sys/policies/acl/handed'),
    await written(secondary, 'auth/token/create'),
    await written(primary, 'auth/token/create'),
  ]
  await servers.level(primary, secondary, 60_000, 'performance')
  servers.cut(primary, secondary)
  const ahead = await written(primary, 'sys/policies/acl/ahead')
  await primary.must('POST', `${FAMILY}/primary/demote`)
  return { servers, primary, secondary, written, read, before, ahead }
}

test('a demoted primary has what it and its set wrote, and its answers promise no less', async () => {
  const { primary, secondary, written, read, before, ahead } = await demotedAhead(707)
  for (const isRestarted of [false, true]) {
    if (isRestarted) {
      primary.kill()
      await primary.restart(primary.server.shares[0])
    }
    const own = await written(primary, 'auth/token/create')
    for (const index of [...before, ahead, own, `${before[2]},${own}`]) assert.equal(await read(primary, index), '200')
    assert.deepEqual([await read(secondary, before[3] ?? ''), await read(secondary, own)], ['200', '412'])
  }
  await secondary.must('POST', `${FAMILY}/secondary/promote`, { force: true })
  const there = await written(secondary, 'sys/policies/acl/there')
  assert.equal(await read(primary, there), '412')
})

test('a demoted primary has nothing that was undone once it follows another, and what that one has', async () => {
  const { servers, primary, secondary, written, read, before, ahead } = await demotedAhead(708)
  const own = await written(primary, 'auth/token/create')
  await secondary.must('POST', `${FAMILY}/secondary/promote`, { force: true })
  const there = await written(secondary, 'sys/policies/acl/there')
  servers.heal(primary, secondary)
  const token = await servers.token(secondary, 'one', {}, 'performance')
  await primary.must('POST', `${FAMILY}/secondary/update-primary`, { token })
  const seen = new Set<string>()
  for (let turn = 0; turn < 100; turn++) {
    seen.add(await read(primary, ahead, 'sys/policies/acl/ahead'))
    seen.add(await read(primary, there, 'sys/policies/acl/there'))
    await servers.time.pass(5)
  }
  // What is named is there, or it is said that it is not.
  assert.ok(!seen.has('404'))
  await servers.level(secondary, primary, 60_000, 'performance')
  for (const cluster of [primary, secondary]) {
    for (const index of [...before, there]) assert.equal(await read(cluster, index), '200', cluster.name)
    for (const index of [ahead, own]) assert.equal(await read(cluster, index), '412 lost', cluster.name)
  }
  assert.equal(await read(primary, there, 'sys/policies/acl/there'), '200')
})

test('what a secondary had its primary write is not taken for here while both compare what they have', async () => {
  const { servers, primary, secondary } = await performanceServers(704)
  await primary.must('PUT', 'sys/policies/acl/changed', POLICY)
  await servers.level(primary, secondary, 60_000, 'performance')
  const { entries } = secondary.tables
  const key = 'root/sys/policy/changed'
  const entry = entries.byKey.get(key) ?? assert.fail('it is there')
  entries.set(key, { ...entry, leaf: Buffer.alloc(entry.leaf.length, 1) })
  for (const [from, to] of [
    ['one', 'two'],
    ['two', 'one'],
  ] as const)
    servers.network.set(from, to, { delayMs: 100 })
  // Does not fit what is there, so that the secondary asks for a comparison. What is on its way by then is dropped.
  await primary.must('PUT', 'sys/policies/acl/changed', POLICY)
  await servers.time.pass(50)
  const written = await secondary.call('PUT', 'sys/policies/acl/mine', POLICY)
  assert.deepEqual([written.status, written.body.warnings], [204, undefined])
  assert.equal((await secondary.call('GET', 'sys/policies/acl/mine')).status, 200)
  assert.equal((await secondary.call('GET', 'sys/policies/acl/changed')).status, 200)
})
