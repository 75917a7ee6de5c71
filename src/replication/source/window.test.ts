import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Window } from './window.ts'

test('a window closes when its bytes are under way, and opens with what is dealt with', () => {
  const window = new Window(100)
  window.sent(99)
  assert.equal(window.isOpen, true)
  window.sent(500)
  assert.equal(window.isOpen, false)
  assert.equal(window.handled(1), true)
  assert.equal(window.isOpen, false)
  assert.equal(window.handled(2), true)
  assert.equal(window.isOpen, true)
})

test('more than was sent, and no more than was said before, is no acknowledgement', () => {
  const window = new Window(100)
  for (const bytes of [1, 2, 3]) window.sent(bytes)
  const taken = [2, 1, 4, 2, 3].map((count) => window.handled(count))
  assert.deepEqual(taken, [true, false, false, false, true])
})
