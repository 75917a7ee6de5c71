import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realWorld } from '../lib/world.ts'
import { countedAddress, newSharedFigures, ThreadFigures } from './shared-figures.ts'

const LIMITS = { maxConnections: 3, maxConnectionsPerAddress: 2, maxBodyBytes: 100 * 1024 }
const twoThreads = () => {
  const shared = newSharedFigures(2, realWorld().random)
  return { shared, one: new ThreadFigures(shared, 0, LIMITS), two: new ThreadFigures(shared, 1, LIMITS) }
}

test('H-06: connections are counted over all threads, and those of one address', () => {
  const { one, two } = twoThreads()
  assert.deepEqual([one.addConnection(), two.addConnection(), one.addConnection()], [true, true, true])
  assert.deepEqual([one.addConnection(), two.addConnection()], [false, false])
  one.removeConnection()
  assert.equal(two.addConnection(), true)
  assert.deepEqual([one.addAddress('10.0.0.1'), two.addAddress('10.0.0.1')], [true, true])
  assert.deepEqual([one.addAddress('10.0.0.1'), two.addAddress('::ffff:10.0.0.1')], [false, false])
  assert.equal(one.addAddress('10.0.0.2'), true)
  two.removeAddress('10.0.0.1')
  assert.equal(one.addAddress('10.0.0.1'), true)
})

test('P-40: memory of bodies is bounded over all threads', () => {
  const { one, two } = twoThreads()
  assert.deepEqual(
    [one.addBodyKib(60), two.addBodyKib(41), two.addBodyKib(40), one.addBodyKib(1)],
    [true, false, true, false],
  )
  two.removeBodyKib(40)
  assert.equal(one.addBodyKib(40), true)
})

test('what a thread held that died is free for the one in its place', () => {
  const { shared, one, two } = twoThreads()
  one.addConnection()
  two.addConnection()
  two.addBodyKib(100)
  two.addAddress('10.0.0.1')
  const successor = new ThreadFigures(shared, 1, LIMITS)
  assert.deepEqual(
    [successor.addBodyKib(100), successor.addConnection(), successor.addConnection()],
    [true, true, true],
  )
  assert.equal(successor.addConnection(), false)
})

test('addresses of one network of IPv6 are one', () => {
  const same = [
    '2001:db8::1',
    '2001:DB8:0:0:1:2:3:4',
    '2001:0db8::ffff:0:0:1',
    '2001:db8::10.0.0.1',
    '2001:db8::1%eth0',
  ]
  assert.deepEqual([...new Set(same.map(countedAddress))], ['2001:db8:0:0::/64'])
  assert.deepEqual(['::1', 'fe80::1', '2001:db8:0:1::1', '::'].map(countedAddress), [
    '0:0:0:0::/64',
    'fe80:0:0:0::/64',
    '2001:db8:0:1::/64',
    '0:0:0:0::/64',
  ])
  assert.deepEqual(['10.0.0.1', '::ffff:10.0.0.1', ''].map(countedAddress), ['10.0.0.1', '10.0.0.1', ''])
})
