import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import type { DataKey, Keyring } from '../../storage/keyring.ts'
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
import { decodeKeyUse, encodeKeyUse, usesFrom, usesUnder } from './key-use.ts'

const dataKey = (fill: number): DataKey => ({ key: importSecret(Buffer.alloc(32, fill)), installedAtMs: 0 })

test('P-11: counts come back with their grants, also after bytes are lost from them', () => {
  const grants = new Map([['a', 7] as const, ['ü', 2 ** 32] as const])
  const others = new Map([['ab'.repeat(16), 2 ** 32] as const, ['cd'.repeat(16), 0] as const])
  const use = { term: 2 ** 32 - 1, mark: '01'.repeat(16), encryptions: 2 ** 32, grants, others }
  const keyring: Keyring = { activeTerm: 5, terms: new Map([[5, dataKey(1)]]) }
  const bytes = encodeKeyUse(use)
  assert.deepEqual(decodeKeyUse(bytes, keyring), use)
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => decodeKeyUse(bytes.subarray(0, length), keyring), StorageCorrupt, `${length} bytes`)
  }
  assert.throws(() => decodeKeyUse(Buffer.concat([bytes, Buffer.alloc(1)]), keyring), StorageCorrupt)
  assert.throws(() => decodeKeyUse(bytes.with(0, 3) as Buffer, keyring), StorageCorrupt)
})

test('P-11: a count of format 1 is of the active key, and every other key counts as used up', () => {
  const terms = new Map([[4, dataKey(1)] as const, [5, dataKey(2)] as const])
  const keyring: Keyring = { activeTerm: 5, terms, former: new Map([[4, [dataKey(3)]]]) }
  const uses = decodeKeyUse(Buffer.from('010000000000100000', 'hex'), keyring)
  assert.deepEqual([uses.term, uses.encryptions, uses.grants], [5, 2 ** 20, new Map()])
  assert.equal(usesFrom(uses, keyring), uses)
  for (const [term, fill, expected] of [
    [4, 1, MAX_ENCRYPTIONS],
    [4, 3, MAX_ENCRYPTIONS],
    [5, 2, 2 ** 20 + 5],
    [5, 1, MAX_ENCRYPTIONS],
    [6, 9, 0],
  ] as const) {
    const next: Keyring = { activeTerm: term, terms: new Map([[term, dataKey(fill)]]) }
    assert.equal(usesUnder(uses, 2 ** 20 + 5, next).encryptions, expected, `${term} ${fill}`)
  }
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
