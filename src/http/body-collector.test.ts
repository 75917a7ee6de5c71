import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pseudoRandom } from '../../test/fixtures/pseudo-random.ts'
import { MAX_OPEN_BODY_BYTES } from '../api/body-limits.ts'
import { BLOCK_BYTES, BodyCollector } from './body-collector.ts'
import type { Taken } from './shared-figures.ts'

function memory(mostKib: number) {
  const state = { usedKib: 0, mostUsedKib: 0 }
  return {
    state,
    addBodyKib: (kib: number): Taken => {
      if (state.usedKib + kib > mostKib) return 'no-memory'
      state.usedKib += kib
      state.mostUsedKib = Math.max(state.mostUsedKib, state.usedKib)
      return 'taken'
    },
    removeBodyKib: (kib: number) => {
      state.usedKib -= kib
    },
  }
}

const bytesOf = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, index) => (index * 31) & 0xff))

test('a body is what came, however it was cut', () => {
  for (const length of [0, 1, 1_000, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES + 7]) {
    const whole = bytesOf(length)
    for (const part of [1_000, 4_096, BLOCK_BYTES, length + 1]) {
      const collector = new BodyCollector(memory(10_000), length, '')
      for (let at = 0; at < length; at += part) assert.equal(collector.add(whole.subarray(at, at + part)), 'added')
      assert.ok(collector.take().equals(whole), `${length} bytes in parts of ${part}`)
    }
  }
})

test('one byte more than the limit is too large', () => {
  const collector = new BodyCollector(memory(10_000), 100, '')
  assert.equal(collector.add(bytesOf(100)), 'added')
  assert.equal(collector.add(bytesOf(1)), 'too-large')
})

test('A8: a caller without a live token may send so much, and not one byte more', () => {
  for (const isKnown of [true, false]) {
    const collector = new BodyCollector(memory(10_000), 1 << 20, '10.0.0.1')
    if (!isKnown) collector.limitToStrangers()
    assert.equal(collector.add(bytesOf(MAX_OPEN_BODY_BYTES)), 'added')
    assert.equal(collector.add(bytesOf(1)), isKnown ? 'added' : 'too-large-for-strangers')
  }
})

test('P-40: the first block is free, what is beyond it is taken, and given back once', () => {
  const shared = memory(128)
  const collector = new BodyCollector(shared, 1 << 20, '')
  assert.equal(collector.add(bytesOf(BLOCK_BYTES)), 'added')
  assert.equal(shared.state.usedKib, 0)
  assert.equal(collector.add(bytesOf(1)), 'added')
  assert.equal(shared.state.usedKib, 64)
  assert.equal(collector.add(bytesOf(2 * BLOCK_BYTES - 1)), 'added')
  assert.equal(shared.state.usedKib, 128)
  assert.equal(collector.add(bytesOf(1)), 'no-memory')
  assert.equal(shared.state.usedKib, 128)
  collector.take()
  assert.equal(shared.state.usedKib, 128, 'whoever reads it holds it')
  collector.release()
  collector.release()
  assert.equal(shared.state.usedKib, 0)
})

test('parts of every size are put together in their order', () => {
  const random = pseudoRandom(11)
  for (let round = 0; round < 40; round++) {
    const sizes = random.several(1, 12, () => random.pick([1, 7, 4_000, 32_768, 40_000, BLOCK_BYTES, 100_000]))
    const whole = bytesOf(sizes.reduce((sum, size) => sum + size, 0))
    const collector = new BodyCollector(memory(10_000), whole.length, '')
    let at = 0
    for (const size of sizes) {
      const part = whole.subarray(at, at + size)
      assert.equal(collector.add(random.chance(0.5) ? part : Buffer.from(new Uint8Array(part))), 'added')
      at += size
    }
    assert.ok(collector.take().equals(whole), sizes.join())
  }
})
