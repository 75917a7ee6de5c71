import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { charge, newLimitMemory } from '../../../src/quotas/limit-table.ts'
import { leastMs, tookMs } from '../../fixtures/measured.ts'

const LIMIT = { requests: 3, intervalMs: 1_000, blockMs: 0 }
const NOW = 1_700_000_000_000

test('F-16: a thread that ended while it held a bucket holds it no longer than a second', async () => {
  let memory = newLimitMemory('key')
  const waitedMs = await leastMs(5_000, async () => {
    memory = newLimitMemory('key')
    memory.locks[2] = 1
    const ms = await tookMs(() => assert.equal(charge(memory, 1, 2, LIMIT, NOW).isAllowed, true))
    assert.ok(ms > 900, `${ms} ms`)
    return ms
  })
  assert.ok(waitedMs < 5_000, `${waitedMs} ms`)
  assert.ok((await leastMs(500, () => tookMs(() => charge(memory, 1, 2, LIMIT, NOW)))) < 500)
})
