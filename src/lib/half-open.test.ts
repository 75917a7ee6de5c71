import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HalfOpen } from './half-open.ts'

function admission(halfOpen = 4, halfOpenOfOne = 2) {
  const dropped: string[] = []
  const all = new HalfOpen({ halfOpen, halfOpenOfOne })
  return { all, dropped, enter: (address: string, name = address) => all.enter(address, () => dropped.push(name)) }
}

test('an address has its share, and gets it back', () => {
  const { all, dropped, enter } = admission()
  const first = enter('10.0.0.1')
  assert.ok(enter('10.0.0.1'))
  assert.equal(enter('10.0.0.1'), undefined)
  first?.leave()
  first?.leave()
  assert.equal(all.count, 1)
  assert.ok(enter('10.0.0.1'))
  assert.equal(enter('::ffff:10.0.0.1'), undefined)
  assert.deepEqual(dropped, [])
})

test('all addresses of an IPv6 network share', () => {
  const { enter } = admission()
  assert.ok(enter('2001:db8::1') && enter('2001:db8::2'))
  assert.equal(enter('2001:db8::3'), undefined)
  assert.ok(enter('2001:db8:0:1::1'))
})

test('when all is full, the oldest of the address with the most makes room', () => {
  const { all, dropped, enter } = admission()
  enter('10.0.0.1')
  enter('10.0.0.2', 'older')
  enter('10.0.0.2', 'newer')
  enter('10.0.0.3')
  assert.ok(enter('10.0.0.4'))
  assert.deepEqual([dropped, all.count], [['older'], 4])
  assert.ok(enter('10.0.0.5'))
  assert.deepEqual([dropped, all.count], [['older', '10.0.0.1'], 4])
})

test('clearing drops each once', () => {
  const { all, dropped, enter } = admission()
  enter('10.0.0.1')
  enter('10.0.0.2')?.leave()
  enter('10.0.0.3')
  all.clear()
  all.clear()
  assert.deepEqual([dropped, all.count], [['10.0.0.1', '10.0.0.3'], 0])
})
