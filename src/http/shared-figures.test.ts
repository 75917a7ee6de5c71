import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realWorld } from '../lib/world.ts'
import { type BodyOwner, newSharedFigures, type SharedFigures, ThreadFigures } from './shared-figures.ts'

const LIMITS = {
  maxConnections: 3,
  maxConnectionsPerAddress: 2,
  maxBodyBytes: 100 * 1024,
  maxBodyBytesPerAddress: 100 * 1024,
}
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
    [
      one.addBodyKib(60, known('10.0.0.1')),
      two.addBodyKib(41, known('10.0.0.2')),
      two.addBodyKib(40, known('10.0.0.2')),
      one.addBodyKib(1, known('10.0.0.3')),
    ],
    ['taken', 'no-memory', 'taken', 'no-memory'],
  )
  two.removeBodyKib(40, known('10.0.0.2'))
  assert.equal(one.addBodyKib(40, known('10.0.0.3')), 'taken')
})

const known = (address: string): BodyOwner => ({ address, hasLiveToken: true })
const unknown = (address: string): BodyOwner => ({ address, hasLiveToken: false })

/** Memory of all bodies, of those without a live token, and of those of any address. */
function takenKib({ cells, rows }: SharedFigures) {
  const row = cells.length / rows
  const sum = (from: number, to: number): number =>
    cells.reduce((all, cell, index) => (index % row >= from && index % row < to ? all + cell : all), 0)
  return { all: sum(1, 2), open: sum(2, 3), addresses: sum(3 + 8_192, row) }
}

test('A8: an address has a share of the memory of bodies, over all threads, and a refused body takes none', () => {
  const limits = { ...LIMITS, maxBodyBytesPerAddress: 50 * 1024 }
  const shared = newSharedFigures(2, realWorld().random)
  const [one, two] = [new ThreadFigures(shared, 0, limits), new ThreadFigures(shared, 1, limits)]
  assert.equal(one.addBodyKib(30, known('10.0.0.1')), 'taken')
  assert.equal(two.addBodyKib(21, known('::ffff:10.0.0.1')), 'no-share')
  assert.equal(two.addBodyKib(20, known('10.0.0.1')), 'taken')
  assert.equal(one.addBodyKib(1, unknown('10.0.0.1')), 'no-share')
  assert.deepEqual(takenKib(shared), { all: 50, open: 0, addresses: 50 })
  assert.equal(one.addBodyKib(50, known('10.0.0.2')), 'taken')
  assert.equal(one.addBodyKib(1, known('10.0.0.3')), 'no-memory')
  two.removeBodyKib(20, known('10.0.0.1'))
  assert.equal(one.addBodyKib(20, known('10.0.0.1')), 'taken')
  assert.deepEqual(takenKib(shared), { all: 100, open: 0, addresses: 100 })
})

test('A8: who comes over a Unix socket has no address, and no share that is full', () => {
  const shared = newSharedFigures(1, realWorld().random)
  const one = new ThreadFigures(shared, 0, { ...LIMITS, maxBodyBytesPerAddress: 1024 })
  assert.equal(one.addBodyKib(100, known('')), 'taken')
  one.removeBodyKib(100, known(''))
  assert.deepEqual(takenKib(shared), { all: 0, open: 0, addresses: 0 })
})

test('A8: callers without a live token have a quarter of the memory together, whatever their addresses', () => {
  const limits = { ...LIMITS, maxBodyBytes: 2048 * 1024, maxBodyBytesPerAddress: 2048 * 1024 }
  const shared = newSharedFigures(2, realWorld().random)
  const [one, two] = [new ThreadFigures(shared, 0, limits), new ThreadFigures(shared, 1, limits)]
  assert.equal(one.addBodyKib(256, unknown('10.0.0.1')), 'taken')
  assert.equal(two.addBodyKib(256, unknown('10.0.0.2')), 'taken')
  assert.equal(two.addBodyKib(1, unknown('10.0.0.3')), 'no-memory')
  assert.deepEqual(takenKib(shared), { all: 512, open: 512, addresses: 512 })
  assert.equal(two.addBodyKib(1536, known('10.0.0.3')), 'taken')
  two.removeBodyKib(256, unknown('10.0.0.2'))
  assert.equal(one.addBodyKib(256, unknown('10.0.0.4')), 'taken')
  assert.deepEqual(takenKib(shared), { all: 2048, open: 512, addresses: 2048 })
})

test('what a thread held that died is free for the one in its place', () => {
  const { shared, one, two } = twoThreads()
  one.addConnection()
  two.addConnection()
  two.addBodyKib(100, known('10.0.0.1'))
  two.addAddress('10.0.0.1')
  const successor = new ThreadFigures(shared, 1, LIMITS)
  assert.deepEqual(
    [successor.addBodyKib(100, known('10.0.0.1')), successor.addConnection(), successor.addConnection()],
    ['taken', true, true],
  )
  assert.equal(successor.addConnection(), false)
})
