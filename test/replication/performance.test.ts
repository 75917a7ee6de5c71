// Whole servers in virtual time: a performance secondary takes what the set shares, and keeps what is its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
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
