import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { StorageCorrupt } from '../../storage/contract.ts'
import { LEAST_MAX_OPERATIONS, MAX_ENCRYPTIONS, MOST_MAX_OPERATIONS } from '../../storage/keyring-limits.ts'
import {
  blockOf,
  firstShareOf,
  granted,
  isAskDue,
  MOST_GRANTED_CLUSTERS,
  mostOwn,
  newTermUse,
  type Share,
  usedInSet,
  withGrant,
} from './key-ledger.ts'
import { decodeKeyUse, encodeKeyUse } from './key-use.ts'

test('P-11: a count comes back with its grants, a count of format 1 is of the active term', () => {
  const use = { term: 2 ** 32 - 1, encryptions: 2 ** 32, grants: new Map([['a', 7] as const, ['ü', 2 ** 32] as const]) }
  const bytes = encodeKeyUse(use)
  assert.deepEqual(decodeKeyUse(bytes, 1), use)
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => decodeKeyUse(bytes.subarray(0, length), 1), StorageCorrupt, `${length} bytes`)
  }
  assert.throws(() => decodeKeyUse(Buffer.concat([bytes, Buffer.alloc(1)]), 1), StorageCorrupt)
  assert.throws(() => decodeKeyUse(bytes.with(0, 3) as Buffer, 1), StorageCorrupt)
  const old = Buffer.from('010000000000100000', 'hex')
  assert.deepEqual(decodeKeyUse(old, 5), { term: 5, encryptions: 2 ** 20, grants: new Map() })
})

test('P-11: the sum over the set stays below the limit, also where answers are lost', () => {
  for (const most of [LEAST_MAX_OPERATIONS, MOST_MAX_OPERATIONS]) {
    const random = new SeededRandom(most)
    const ids = ['a', 'b', 'c']
    let use = newTermUse(9, ids, most)
    let own = 0
    const spent = new Map<string, number>(ids.map((id) => [id, 0]))
    const shares = new Map<string, Share>(ids.map((id) => [id, { term: 9, from: 0, to: firstShareOf(most) }]))
    let refused = 0
    for (let step = 0; step < 5000; step++) {
      own = Math.min(own + random.below(blockOf(most) / 8), mostOwn(use), most)
      const id = random.pick(ids)
      const share = shares.get(id) as Share
      // Each seals as much as it may, in the worst case all of it.
      spent.set(id, Math.min((spent.get(id) ?? 0) + random.below(blockOf(most)), share.to))
      if (isAskDue(share, spent.get(id) ?? 0)) {
        const made = granted(use, id, { own, most })
        if (made === undefined) refused++
        else {
          use = made.use
          if (random.below(3) > 0) shares.set(id, withGrant(share, made.grant))
        }
      }
      const inSet = [...spent.values()].reduce((sum, one) => sum + one, own)
      assert.ok(inSet <= usedInSet(use, own), `${inSet}`)
      assert.ok(usedInSet(use, own) <= MAX_ENCRYPTIONS, `${usedInSet(use, own)}`)
    }
    assert.ok(refused > 0)
  }
})

test('P-11: no block is granted above what the set may do, nor to a cluster that is not registered', () => {
  const most = LEAST_MAX_OPERATIONS
  const use = newTermUse(1, ['a'], most)
  const room = most - firstShareOf(most) - blockOf(most)
  assert.ok(granted(use, 'a', { own: room, most }) !== undefined)
  assert.equal(granted(use, 'a', { own: room + 1, most }), undefined)
  assert.equal(granted(use, 'b', { own: 0, most }), undefined)
  const high = { ...newTermUse(1, ['a'], MOST_MAX_OPERATIONS), encryptions: MOST_MAX_OPERATIONS }
  assert.equal(granted(high, 'a', { own: 0, most: MOST_MAX_OPERATIONS }), undefined)
})

test('P-11: first shares of the most clusters are a quarter of a key, and one more is refused', () => {
  const ids = Array.from({ length: MOST_GRANTED_CLUSTERS }, (_, index) => `cluster ${index}`)
  assert.ok(usedInSet(newTermUse(1, ids, MOST_MAX_OPERATIONS), 0) <= MOST_MAX_OPERATIONS / 4)
  assert.throws(() => newTermUse(1, [...ids, 'one more'], MOST_MAX_OPERATIONS), RangeError)
  assert.ok(newTermUse(1, ['x'.repeat(255)], 1e6).grants.size === 1)
  assert.throws(() => newTermUse(1, ['x'.repeat(256)], 1e6), RangeError)
})

test('a secondary asks when half of its last block is gone, and takes no answer for another term', () => {
  const share = { term: 1, from: 0, to: 100 }
  assert.deepEqual([isAskDue(share, 49), isAskDue(share, 50)], [false, true])
  const next = withGrant(share, { term: 1, from: 100, to: 301 })
  assert.deepEqual([isAskDue(next, 200), isAskDue(next, 201)], [false, true])
  assert.equal(withGrant(next, { term: 1, from: 0, to: 100 }), next)
  assert.equal(withGrant(next, { term: 2, from: 301, to: 900 }), next)
})
