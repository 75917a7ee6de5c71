// What bodies hold of the memory of this process.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BLOCK_BYTES, BodyCollector } from '../../../src/http/body-collector.ts'
import type { BodyMemory } from '../../../src/http/shared-figures.ts'
import { collectGarbage } from '../../../src/lib/collect-garbage.ts'
import { until } from '../../fixtures/until.ts'

/** What all bodies share, without a bound. */
const ENDLESS: BodyMemory = { addBodyKib: () => 'taken', removeBodyKib: () => {} }

test('H-01: parts of a byte do not hold on to the memory that they came in', async () => {
  const [collectors, parts] = [10, 500]
  const before = process.memoryUsage().arrayBuffers
  const held = Array.from({ length: collectors }, () => {
    const collector = new BodyCollector(ENDLESS, 1 << 20, '')
    for (let i = 0; i < parts; i++) collector.add(Buffer.alloc(BLOCK_BYTES).subarray(i, i + 1))
    return collector
  })
  // What is not collected yet counts too; held, it would be all of it.
  await until(() => {
    collectGarbage()
    return process.memoryUsage().arrayBuffers - before < (collectors * parts * BLOCK_BYTES) / 3
  }, 'the blocks are free')
  assert.ok(held.every((collector) => collector.take().length === parts))
})

test('H-01: a body is never twice in memory, and free once it is done with, before anything is collected', () => {
  const [parts, bytes] = [320, 320 * BLOCK_BYTES]
  const before = process.memoryUsage().arrayBuffers
  const held = (): number => process.memoryUsage().arrayBuffers - before
  for (const partBytes of [BLOCK_BYTES, 1_000]) {
    const collector = new BodyCollector(ENDLESS, bytes, '')
    for (let sent = 0; sent + partBytes <= bytes; sent += partBytes) collector.add(Buffer.alloc(partBytes, 'a'))
    assert.ok(held() < bytes + 16 * BLOCK_BYTES, `${held()} while it comes`)
    const whole = collector.take()
    assert.ok(whole.length > bytes - BLOCK_BYTES && whole.every((byte) => byte === 0x61))
    assert.ok(held() < bytes + 16 * BLOCK_BYTES, `${held()} when it is whole`)
    collector.release()
    assert.equal(whole.length, 0)
    assert.ok(held() < bytes / 10, `${held()} after it`)
  }
  const given = new BodyCollector(ENDLESS, bytes, '')
  for (let part = 0; part < parts; part++) given.add(Buffer.alloc(BLOCK_BYTES))
  given.release()
  assert.ok(held() < bytes / 10, `${held()} after one that was given up`)
})
