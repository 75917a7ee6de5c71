// Which indexes are of writes that were lost: in a store that had restores and promotions, and on clusters that took
// over from others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realWorld } from '../../lib/world.ts'
import { systemScope } from '../../storage/contract.ts'
import { createMemoryStore } from '../../storage/memory-store.ts'
import type { History } from '../../storage/peer-log.ts'
import { gapsOf, gapsOfSet, isLost, type SetPromotion, withGaps } from './lost-writes.ts'

const GAP = 2 ** 20
const id = (number: number): Buffer => Buffer.alloc(16, number)
const history = (number: number, startIndex: number, parentIndex?: number): History => ({
  id: id(number),
  epoch: number,
  startIndex,
  parent: parentIndex === undefined ? undefined : { id: id(number - 1), index: parentIndex, chain: id(0) },
  startedAtMs: 0,
})
const promotion = (number: number, followed?: number): SetPromotion => ({ historyId: id(number), followed })

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
  const gaps = gapsOfSet([before, takenOver, restored], [promotion(2, 4_990)])
  assert.deepEqual(gaps, [
    { after: 4_990, before: 3 * GAP },
    { after: 3 * GAP + 10, before: 5 * GAP + 1 },
  ])
  assert.deepEqual(gapsOf([before, takenOver, restored])[0], { after: 7_000, before: 3 * GAP })
})

test('promotions of before, in numbers that the set has left behind, count no more', () => {
  const first = history(2, GAP, 100)
  const again = history(3, 4 * GAP, 2 * GAP)
  assert.deepEqual(gapsOfSet([history(1, 1), first, again], [promotion(2, 90), promotion(3, 3 * GAP + 5)]), [
    { after: 3 * GAP + 5, before: 4 * GAP },
  ])
})

test('promotions in another family, and those that another cluster noted, are not of the set', () => {
  const inPlace = history(2, 2 * GAP, GAP + 20)
  const ofSet = history(3, 3 * GAP, 2 * GAP + 30)
  const list = [history(1, 1), inPlace, ofSet]
  assert.deepEqual(gapsOfSet(list, [promotion(8, 700), promotion(3, 5_000)]), [{ after: 5_000, before: 3 * GAP }])
  // It was demoted, and promoted again without another primary in between: its numbers went on.
  assert.deepEqual(gapsOfSet([...list, history(4, 4 * GAP, 3 * GAP + 1)], [promotion(3, 5_000), promotion(4)]), [
    { after: 5_000, before: 3 * GAP },
    { after: 3 * GAP + 1, before: 4 * GAP },
  ])
})

test('gaps are noted once, the newest of them last, and the oldest are dropped', () => {
  const gaps = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => ({ after: 10 * (from + at), before: 10 * (from + at) + 9 }))
  assert.equal(withGaps([], []), undefined)
  assert.equal(withGaps(gaps(0, 3), gaps(1, 3)), undefined)
  assert.deepEqual(withGaps(gaps(0, 2), gaps(1, 4)), gaps(0, 4))
  assert.deepEqual(withGaps(gaps(0, 256), gaps(255, 258)), gaps(2, 258))
})

test('a restore leaves out what its numbers jump over', () => {
  const restored = history(2, 2 * GAP + 1, 50)
  assert.deepEqual(gapsOfSet([history(1, 1), restored], []), [{ after: 50, before: 2 * GAP + 1 }])
})
