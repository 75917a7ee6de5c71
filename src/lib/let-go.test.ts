import assert from 'node:assert/strict'
import { test } from 'node:test'
import { letGo } from './let-go.ts'

test('bytes that have their memory alone give it back at once', () => {
  const bytes = Buffer.alloc(10 << 20)
  const { buffer } = bytes
  letGo(bytes)
  assert.equal(bytes.length, 0)
  assert.deepEqual([buffer.detached, buffer.byteLength], [true, 0])
  letGo(bytes)
})

test('bytes that lie beside others stay', () => {
  const whole = Buffer.from(new ArrayBuffer(10)).fill(1)
  for (const part of [whole.subarray(0, 9), whole.subarray(1), Buffer.from('in the pool')]) {
    const { length } = part
    letGo(part)
    assert.equal(part.length, length)
  }
  const shared = Buffer.from(new SharedArrayBuffer(10))
  letGo(shared)
  assert.equal(shared.length, 10)
})
