// Which indexes are of writes that were lost: in a store that had restores and promotions, and on clusters that took
// over from others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realWorld } from '../../lib/world.ts'
import { systemScope } from '../../storage/contract.ts'
import { createMemoryStore } from '../../storage/memory-store.ts'
import type { History, Origin } from '../../storage/peer-log.ts'
import { gapsOf, gapsOfSet, isLost } from './lost-writes.ts'

const GAP = 2 ** 20
const id = (number: number): Buffer => Buffer.alloc(16, number)
const history = (number: number, startIndex: number, parentIndex?: number): History => ({
  id: id(number),
  epoch: number,
  startIndex,
  parent: parentIndex === undefined ? undefined : { id: id(number - 1), index: parentIndex, chain: id(0) },
  startedAtMs: 0,
})
const origin = (index: number): Origin => ({ family: 'dr', historyId: id(9), index, chain: id(0) })

test('a promoted store has lost what lies between its parent and its first change, and nothing else', async () => {
  const { random, clock } = realWorld()
  const store = createMemoryStore({ random, clock })
  store.setLeafKey(Buffer.alloc(32, 1))
  const write = (name: string) =>
    store.transaction(async (tx) => tx.put(systemScope, `root/sys/policy/${name}`, Buffer.from('x')))
  for (const name of ['a', 'b', 'c']) await write(name)
  const promoted = async (tx: Parameters<Parameters<typeof store.transaction>[0]>[0]) =>
    tx.put(systemScope, 'root/sys/policy/p', Buffer.from('x'))
  await store.beginHistory(promoted, { id: random.bytes(16), knownIndex: 5, knownEpoch: 1 })
  await write('d')
  const gaps = gapsOf(await store.histories())
  assert.deepEqual(gaps, [{ after: 3, before: GAP }])
  assert.deepEqual(gapsOfSet(await store.histories(), []), gaps)
  for (const [index, lost] of [
    [1, false],
    [3, false],
    [4, true],
    [5, true],
    [GAP - 1, true],
    [GAP, false],
  ] as const)
    assert.equal(isLost(index, gaps), lost, `${index}`)
})

test('a store whose beginning nobody noted has lost nothing that is known', () => {
  assert.deepEqual(gapsOf([history(1, 3 * GAP + 1)]), [])
  assert.equal(isLost(5, []), false)
})

test('who took over from another primary counts by its numbers until there, and by its own from then on', () => {
  const before = history(1, 1)
  const takenOver = history(2, 3 * GAP, 7_000)
  const restored = history(3, 5 * GAP + 1, 3 * GAP + 10)
  // Its own log stood at 7000, where that of the primary was applied up to 4990.
  const gaps = gapsOfSet([before, takenOver, restored], [origin(4_990)])
  assert.deepEqual(gaps, [
    { after: 4_990, before: 3 * GAP },
    { after: 3 * GAP + 10, before: 5 * GAP + 1 },
  ])
  assert.deepEqual(gapsOf([before, takenOver, restored])[0], { after: 7_000, before: 3 * GAP })
})

test('promotions of before, in numbers that the set has left behind, count no more', () => {
  const first = history(2, GAP, 100)
  const again = history(3, 4 * GAP, 2 * GAP)
  assert.deepEqual(gapsOfSet([history(1, 1), first, again], [origin(3 * GAP + 5)]), [
    { after: 3 * GAP + 5, before: 4 * GAP },
  ])
})

test('a history of a restore is not one in which a cluster took over', () => {
  const restored = history(2, 2 * GAP + 1, 50)
  assert.deepEqual(gapsOfSet([history(1, 1), restored], [origin(20)]), [{ after: 50, before: 2 * GAP + 1 }])
})
