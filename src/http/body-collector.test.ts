import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pseudoRandom } from '../../test/fixtures/pseudo-random.ts'
import { until } from '../../test/fixtures/until.ts'
import { collectGarbage } from '../lib/collect-garbage.ts'
import { BLOCK_BYTES, BodyCollector } from './body-collector.ts'

function memory(mostKib: number) {
  const state = { usedKib: 0, mostUsedKib: 0 }
  return {
    state,
    addBodyKib: (kib: number) => {
      if (state.usedKib + kib > mostKib) return false
      state.usedKib += kib
      state.mostUsedKib = Math.max(state.mostUsedKib, state.usedKib)
      return true
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
      const collector = new BodyCollector(memory(10_000), length)
      for (let at = 0; at < length; at += part) assert.equal(collector.add(whole.subarray(at, at + part)), 'added')
      assert.ok(collector.take().equals(whole), `${length} bytes in parts of ${part}`)
    }
  }
})

test('one byte more than the limit is too large', () => {
  const collector = new BodyCollector(memory(10_000), 100)
  assert.equal(collector.add(bytesOf(100)), 'added')
  assert.equal(collector.add(bytesOf(1)), 'too-large')
})

test('P-40: the first block is free, what is beyond it is taken, and given back once', () => {
  const shared = memory(128)
  const collector = new BodyCollector(shared, 1 << 20)
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

test('H-01: parts of a byte do not hold on to the memory that they came in', async () => {
  const [collectors, parts] = [10, 500]
  const before = process.memoryUsage().arrayBuffers
  const held = Array.from({ length: collectors }, () => {
    const collector = new BodyCollector(memory(10_000), 1 << 20)
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

test('parts of every size are put together in their order', () => {
  const random = pseudoRandom(11)
  for (let round = 0; round < 40; round++) {
    const sizes = random.several(1, 12, () => random.pick([1, 7, 4_000, 32_768, 40_000, BLOCK_BYTES, 100_000]))
    const whole = bytesOf(sizes.reduce((sum, size) => sum + size, 0))
    const collector = new BodyCollector(memory(10_000), whole.length)
    let at = 0
    for (const size of sizes) {
      const part = whole.subarray(at, at + size)
      assert.equal(collector.add(random.chance(0.5) ? part : Buffer.from(new Uint8Array(part))), 'added')
      at += size
    }
    assert.ok(collector.take().equals(whole), sizes.join())
  }
})

test('H-01: a body is never twice in memory, and free once it is done with, before anything is collected', () => {
  const [parts, bytes] = [320, 320 * BLOCK_BYTES]
  const before = process.memoryUsage().arrayBuffers
  const held = (): number => process.memoryUsage().arrayBuffers - before
  for (const partBytes of [BLOCK_BYTES, 1_000]) {
    const collector = new BodyCollector(memory(1_000_000), bytes)
    for (let sent = 0; sent + partBytes <= bytes; sent += partBytes) collector.add(Buffer.alloc(partBytes, 'a'))
    assert.ok(held() < bytes + 16 * BLOCK_BYTES, `${held()} while it comes`)
    const whole = collector.take()
    assert.ok(whole.length > bytes - BLOCK_BYTES && whole.every((byte) => byte === 0x61))
    assert.ok(held() < bytes + 16 * BLOCK_BYTES, `${held()} when it is whole`)
    collector.release()
    assert.equal(whole.length, 0)
    assert.ok(held() < bytes / 10, `${held()} after it`)
  }
  const given = new BodyCollector(memory(1_000_000), bytes)
  for (let part = 0; part < parts; part++) given.add(Buffer.alloc(BLOCK_BYTES))
  given.release()
  assert.ok(held() < bytes / 10, `${held()} after one that was given up`)
})
