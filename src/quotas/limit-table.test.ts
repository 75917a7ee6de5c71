import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { charge, newLimitMemory } from './limit-table.ts'

const LIMIT = { requests: 3, intervalMs: 1_000, blockMs: 0 }
const NOW = 1_700_000_000_000

test('an interval has its requests, and the next one has them again', () => {
  const memory = newLimitMemory('key')
  const at = (ms: number) => charge(memory, 1, 2, LIMIT, NOW + ms)
  assert.deepEqual([at(0).remaining, at(10).remaining, at(20).remaining], [2, 1, 0])
  assert.deepEqual(at(400), { isAllowed: false, remaining: 0, resetMs: 600, hasEvicted: false })
  assert.equal(at(999).isAllowed, false)
  assert.equal(at(1_000).isAllowed, true)
})

test('callers do not share their places', () => {
  const memory = newLimitMemory('key')
  for (let i = 0; i < 3; i++) assert.equal(charge(memory, 1, 2, LIMIT, NOW).isAllowed, true)
  assert.equal(charge(memory, 1, 2, LIMIT, NOW).isAllowed, false)
  assert.equal(charge(memory, 3, 2, LIMIT, NOW).isAllowed, true)
})

test('who exceeds is blocked, and no longer than he was told', () => {
  const memory = newLimitMemory('key')
  const limit = { ...LIMIT, requests: 1, blockMs: 5_000 }
  const at = (ms: number) => charge(memory, 1, 2, limit, NOW + ms)
  assert.equal(at(0).isAllowed, true)
  assert.equal(at(100).resetMs, 5_000)
  assert.deepEqual([at(2_000).isAllowed, at(2_000).resetMs], [false, 3_100])
  assert.equal(at(5_100).isAllowed, true)
})

test('F-08: a clock that jumps begins another interval and locks nobody out', () => {
  const memory = newLimitMemory('key')
  const limit = { ...LIMIT, blockMs: 5_000 }
  for (let i = 0; i < 4; i++) charge(memory, 1, 2, limit, NOW)
  assert.equal(charge(memory, 1, 2, limit, NOW).isAllowed, false)
  assert.equal(charge(memory, 1, 2, limit, NOW - 86_400_000).isAllowed, true)
  assert.equal(charge(memory, 1, 2, limit, NOW + 86_400_000).isAllowed, true)
})

test('P-40: a full bucket gives away the place that would be free first', () => {
  const memory = newLimitMemory('key')
  for (let high = 1; high <= 8; high++) charge(memory, high, 0, LIMIT, NOW + high)
  const ninth = charge(memory, 9, 0, LIMIT, NOW + 100)
  assert.deepEqual([ninth.isAllowed, ninth.hasEvicted], [true, true])
  assert.equal(charge(memory, 8, 0, LIMIT, NOW + 100).remaining, 1, 'the others keep theirs')
  assert.equal(charge(memory, 1, 0, LIMIT, NOW + 100).remaining, 2, 'the first begins anew')
  const later = charge(newLimitMemory('key'), 1, 0, LIMIT, NOW)
  assert.equal(later.hasEvicted, false)
  assert.equal(charge(memory, 99, 0, LIMIT, NOW + 5_000).hasEvicted, false, 'what is over is no loss')
})
