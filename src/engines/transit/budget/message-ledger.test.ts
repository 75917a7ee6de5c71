// S6: what the ledger says of a version, and what follows from it for one cluster.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isLow,
  type Ledger,
  leftOf,
  type MountStanding,
  mayTakeFree,
  sealedAtMost,
  sealedFree,
  standingOf,
  withBlock,
} from './message-ledger.ts'
import { MESSAGE_LIMITS, MOST_CLUSTERS } from './message-limits.ts'

const { most, block, free, freeShare } = MESSAGE_LIMITS
const NOTHING: Ledger = { granted: 0 }

const mount = (more: Partial<MountStanding> = {}): MountStanding => ({
  clusters: { clusters: ['here'], gone: 0 },
  oldLives: 0,
  lives: 8,
  cluster: 'here',
  ...more,
})
const of = (clusters: readonly string[], gone = 0) => mount({ clusters: { clusters, gone } })

test('S6 each cluster that is named has a first block, one that is not has none', () => {
  const standing = standingOf(MESSAGE_LIMITS, of(['here', 'there']), {}, NOTHING)
  assert.deepEqual([standing.hasFirst, standing.granted, standing.reserved], [true, block, 2 * block])
  assert.equal(leftOf(MESSAGE_LIMITS, standing, 5), block - freeShare - 5)
  const other = standingOf(MESSAGE_LIMITS, of(['there']), {}, NOTHING)
  assert.deepEqual([other.hasFirst, other.granted, other.reserved], [false, 0, block])
  assert.equal(mayTakeFree(MESSAGE_LIMITS, other, 8), false)
  assert.equal(sealedFree(MESSAGE_LIMITS, other, 8), 0)
})

test('S6 first blocks are there exactly as long as they fit beside what was granted', () => {
  const at = (granted: number, clusters: readonly string[]) =>
    standingOf(MESSAGE_LIMITS, of(clusters), {}, { granted, clusters: {} }).hasFirst
  assert.deepEqual([at(most - block, ['here']), at(most - block + 1, ['here'])], [true, false])
  assert.deepEqual([at(most - 2 * block, ['here', 'there']), at(most - block, ['here', 'there'])], [true, false])
})

test('S6 a new version has its first blocks in a set of the most clusters', () => {
  const clusters = Array.from({ length: MOST_CLUSTERS - 1 }, (_, at) => `cluster ${at}`)
  const standing = standingOf(MESSAGE_LIMITS, of([...clusters, 'here'], 100), { aheadFrom: 100 }, NOTHING)
  assert.deepEqual([standing.hasFirst, standing.reserved], [true, most / 2])
})

test('S6 blocks of clusters that are gone count for versions that they could use, and for no later one', () => {
  const reserved = (aheadFrom?: number) =>
    standingOf(MESSAGE_LIMITS, of(['here'], 5), aheadFrom === undefined ? {} : { aheadFrom }, NOTHING).reserved / block
  assert.deepEqual([reserved(), reserved(2), reserved(5)], [6, 4, 1])
})

test('S6 lives before a version count for no other cluster than the one that made it', () => {
  const header = { countedFrom: 800, countedBy: 'here' }
  const { from } = standingOf(MESSAGE_LIMITS, mount({ lives: 808 }), header, NOTHING)
  assert.equal(from, 800)
  const there = { ...of(['here', 'there']), cluster: 'there', lives: 808 }
  const standing = standingOf(MESSAGE_LIMITS, there, header, NOTHING)
  assert.equal(standing.from, 0)
  assert.equal(sealedFree(MESSAGE_LIMITS, standing, 808), 808 * free)
})

test('S6 what threads seal without asking ends with its share of the first block', () => {
  const standing = standingOf(MESSAGE_LIMITS, mount(), { countedFrom: 10, countedBy: 'here' }, NOTHING)
  const last = 10 + freeShare / free
  assert.deepEqual(
    [mayTakeFree(MESSAGE_LIMITS, standing, last), mayTakeFree(MESSAGE_LIMITS, standing, last + 1)],
    [true, false],
  )
  assert.equal(sealedFree(MESSAGE_LIMITS, standing, last + 8), freeShare)
})

test('S6 what was granted before there was a ledger stands as granted, with the lives of that time', () => {
  const old = mount({ oldLives: 24, lives: 8 })
  const standing = standingOf(MESSAGE_LIMITS, old, { countedFrom: 16 }, { granted: 70_000 })
  assert.equal(standing.reserved, 70_000 + 8 * free + block)
  assert.equal(sealedAtMost(MESSAGE_LIMITS, standing, 0, 8), 70_000 + 8 * free + 8 * free)
  const later = standingOf(MESSAGE_LIMITS, old, { countedFrom: 0, countedBy: '' }, NOTHING)
  assert.equal(sealedAtMost(MESSAGE_LIMITS, later, 0, 8), 8 * free)
})

test('S6 a block is granted once for each number, and the last one is what is left', () => {
  let ledger = NOTHING
  const standing = () => standingOf(MESSAGE_LIMITS, of(['here', 'there']), {}, ledger)
  const ask = (cluster: string, number: number) => withBlock(MESSAGE_LIMITS, ledger, standing(), { cluster, number })
  assert.equal(ask('here', 2), undefined)
  ledger = ask('here', 1) ?? assert.fail()
  assert.equal(ask('here', 1), undefined)
  assert.deepEqual(ledger, { granted: block, clusters: { here: { granted: block, number: 1 } } })
  ledger = { granted: most - 2 * block - 7, clusters: ledger.clusters ?? {} }
  ledger = ask('there', 1) ?? assert.fail()
  assert.deepEqual(ledger.clusters?.there, { granted: 7, number: 1 })
  assert.equal(standing().reserved, most)
  assert.equal(ask('here', 2), undefined)
})

test('S6 the next block is due when half of the newest one is gone', () => {
  const first = standingOf(MESSAGE_LIMITS, mount(), {}, NOTHING)
  const half = (block - freeShare) / 2
  assert.deepEqual([isLow(MESSAGE_LIMITS, first, half), isLow(MESSAGE_LIMITS, first, half + 1)], [false, true])
  const ledger = { granted: block, clusters: { here: { granted: block, number: 1 } } }
  const second = standingOf(MESSAGE_LIMITS, mount(), {}, ledger)
  const used = block - freeShare + block / 2
  assert.deepEqual([isLow(MESSAGE_LIMITS, second, used), isLow(MESSAGE_LIMITS, second, used + 1)], [false, true])
})

test('S6 a count that is shown holds what others were granted, and of this cluster what it used', () => {
  const shares = { here: { granted: block, number: 1 }, there: { granted: 3 * block, number: 3 } }
  const ledger = { granted: 4 * block, clusters: shares }
  const standing = standingOf(MESSAGE_LIMITS, of(['here', 'there']), {}, ledger)
  assert.equal(sealedAtMost(MESSAGE_LIMITS, standing, 1_000, 8), 4 * block + 1_000 + 8 * free)
})
