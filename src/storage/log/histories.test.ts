import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageRefused } from '../errors.ts'
import type { History, Position } from '../peer-log.ts'
import {
  commonAncestor,
  faultOfHistories,
  faultOfKnown,
  historyOfFormat1,
  INDEX_GAP,
  MAX_EPOCH,
  MAX_HISTORIES,
  MAX_HISTORY_INDEX,
  MAX_KNOWN_EPOCH,
  MAX_KNOWN_INDEX,
  nextHistory,
} from './histories.ts'

const bytes = (fill: number): Buffer => Buffer.alloc(16, fill)

/** The list with a child of its last history, which parts from it at `index`. */
function child(histories: readonly History[], id: number, index: number): History[] {
  const last = histories.at(-1) ?? assert.fail('a child has a parent')
  const startIndex = (Math.floor(Math.max(index, last.startIndex) / INDEX_GAP) + 1) * INDEX_GAP
  const parent = { id: last.id, index, chain: bytes(0x80 + (index % 100)) }
  return [...histories, { id: bytes(id), epoch: last.epoch + 1, startIndex, parent, startedAtMs: 0 }]
}

const ROOT: History[] = [{ id: bytes(1), epoch: 1, startIndex: 1, parent: undefined, startedAtMs: 0 }]
const SECOND = child(ROOT, 2, 50)

const PAIRS: { name: string; ours: History[]; theirs: History[]; found: ReturnType<typeof commonAncestor> }[] = [
  { name: 'of one history have it whole', ours: ROOT, theirs: ROOT, found: { historyId: bytes(1), fork: undefined } },
  {
    name: 'of which one went on parted where it did',
    ours: ROOT,
    theirs: SECOND,
    found: { historyId: bytes(1), fork: { index: 50, chain: bytes(0x80 + 50) } },
  },
  {
    name: 'that were promoted from one place parted there',
    ours: SECOND,
    theirs: child(ROOT, 3, 50),
    found: { historyId: bytes(1), fork: { index: 50, chain: bytes(0x80 + 50) } },
  },
  {
    name: 'that left one history at two places parted at the first',
    ours: SECOND,
    theirs: child(ROOT, 3, 40),
    found: { historyId: bytes(1), fork: { index: 40, chain: bytes(0x80 + 40) } },
  },
  {
    name: 'share the newest history that both have',
    ours: child(SECOND, 3, 2 * INDEX_GAP),
    theirs: child(child(SECOND, 4, 2 * INDEX_GAP + 9), 5, 4 * INDEX_GAP),
    found: { historyId: bytes(2), fork: { index: 2 * INDEX_GAP, chain: bytes(0x80 + ((2 * INDEX_GAP) % 100)) } },
  },
  {
    name: 'share it though one has forgotten the oldest',
    ours: SECOND.slice(1),
    theirs: child(SECOND, 3, INDEX_GAP + 4),
    found: { historyId: bytes(2), fork: { index: INDEX_GAP + 4, chain: bytes(0x80 + ((INDEX_GAP + 4) % 100)) } },
  },
  {
    name: 'of strangers share nothing',
    ours: SECOND,
    theirs: [{ ...SECOND[1], id: bytes(9) } as History],
    found: undefined,
  },
]
for (const { name, ours, theirs, found } of PAIRS) {
  test(`S2: two lists ${name}`, () => {
    assert.deepEqual(commonAncestor(ours, theirs), found)
    assert.deepEqual(commonAncestor(theirs, ours), found)
  })
}

test('S2: a list that cannot be is told apart', () => {
  const last = SECOND[1] ?? assert.fail('it has two')
  const parent = last.parent ?? assert.fail('it has a parent')
  const long = [...ROOT]
  for (let number = 1; number <= MAX_HISTORIES; number++) {
    const id = Buffer.alloc(16)
    id.writeUInt32BE(number)
    const made = child(long, 0, long.at(-1)?.startIndex ?? 1).at(-1) ?? assert.fail('a child is made')
    long.push({ ...made, id })
  }
  assert.equal(faultOfHistories(SECOND), undefined)
  assert.equal(faultOfHistories(long.slice(1)), undefined)
  for (const [fault, list] of [
    ['is empty', []],
    [`has more than ${MAX_HISTORIES} histories`, long],
    ['has numbers that are too high', [{ ...last, epoch: 2 ** 32 }]],
    ['has numbers that are too high', [{ ...last, startIndex: 2 ** 53 }]],
    ['has a history that begins before its parent', [{ ...last, startIndex: parent.index }]],
    ['has a history twice', [...ROOT, { ...last, id: bytes(1) }]],
    ['has a history without its parent', [...ROOT, { ...last, parent: undefined }]],
    ['has a history without its parent', [...ROOT, { ...last, parent: { ...parent, id: bytes(8) } }]],
    ['does not grow', [...ROOT, { ...last, epoch: 1 }]],
  ] as const) {
    assert.equal(faultOfHistories(list), fault)
  }
})

test('S2: a store of format 1 has one history, which began where a restore would have begun it', () => {
  const of = (index: number, epoch: number, hasRecords = true): unknown =>
    historyOfFormat1({ index, epoch, historyId: bytes(1), chain: bytes(hasRecords ? 2 : 1) }).startIndex
  assert.deepEqual([of(0, 1, false), of(900, 1), of(2 * INDEX_GAP + 5, 1)], [1, 1, 1])
  assert.deepEqual(
    [of(2 * INDEX_GAP, 2, false), of(2 * INDEX_GAP + 1, 2), of(3 * INDEX_GAP, 2)],
    [2 * INDEX_GAP + 1, 2 * INDEX_GAP + 1, 2 * INDEX_GAP + 1],
  )
})

const standing = (index: number, epoch: number): Position => ({
  index,
  epoch,
  chain: bytes(1),
  historyId: bytes(2),
  lastReplicatedIndex: index,
  lastLocalIndex: index,
  origins: [],
})

test('S2: a place that others name leaves room for a million promotions, one above is damage', () => {
  assert.equal(faultOfKnown({ index: MAX_KNOWN_INDEX, epoch: MAX_KNOWN_EPOCH }), undefined)
  assert.equal(
    faultOfKnown({ index: MAX_KNOWN_INDEX + 1 }),
    'its index 4502500115742721 is higher than any log reaches',
  )
  assert.equal(
    faultOfKnown({ index: 1, epoch: MAX_KNOWN_EPOCH + 1 }),
    'its epoch 2146435073 is higher than any log reaches',
  )
  assert.match(faultOfKnown({ index: 2 ** 53 }) ?? '', /its index/)
  let at = standing(0, 1)
  let known = { knownIndex: MAX_KNOWN_INDEX, knownEpoch: MAX_KNOWN_EPOCH }
  for (let promotions = 0; promotions < 2 ** 20; promotions++) {
    const { startIndex, epoch } = nextHistory(at, { id: bytes(3), ...known }, 0)
    at = standing(startIndex, epoch)
    known = { knownIndex: 0, knownEpoch: 0 }
  }
  assert.deepEqual([at.index, at.epoch], [MAX_HISTORY_INDEX, MAX_EPOCH])
  const over = new StorageRefused(
    'A history cannot begin at index 4503599628419072 in epoch 2147483649: the numbers end there',
  )
  assert.throws(() => nextHistory(at, { id: bytes(3), ...known }, 0), over)
})

test('S2: a promotion takes no place from a member of the set that no log reaches', () => {
  for (const [knownIndex, knownEpoch] of [
    [MAX_KNOWN_INDEX + 1, 0],
    [0, MAX_KNOWN_EPOCH + 1],
  ] as const)
    assert.throws(() => nextHistory(standing(5, 1), { id: bytes(3), knownIndex, knownEpoch }, 0), {
      name: 'StorageRefused',
      message: /^The place that a member of the set names is damaged: its (?:index|epoch) \d+ is higher/,
    })
})
