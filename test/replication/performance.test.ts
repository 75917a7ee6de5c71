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
  assert.equal((await secondary.must('GET', 'transit/keys/k')).body.data?.latest_version, 1)
  const health = await secondary.call('GET', 'sys/health', undefined, '')
  assert.equal(health.status, 200)
})
