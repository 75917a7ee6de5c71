import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../test/fixtures/seed.ts'
import { childNames } from './child-names.ts'
import { compareKeys } from './key-order.ts'

/** A source of sorted keys that counts its calls, and the keys that it returned. */
function keysOf(keys: readonly string[]) {
  const sorted = [...new Set(keys)].sort(compareKeys)
  const counts = { calls: 0, keys: 0 }
  const keysFrom = (from: string, limit: number): string[] => {
    const page = sorted.filter((key) => compareKeys(key, from) >= 0).slice(0, limit)
    counts.calls++
    counts.keys += page.length
    return page
  }
  return { keysFrom, counts }
}

test('child names are those that a walk through all keys finds', (t) => {
  const segment = fc.constantFrom('a', 'a!', 'a0', 'b', 'é', '\uff5e', '\u{1f511}')
  const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join('/'))
  const after = fc.oneof(fc.constantFrom('', 'a/', 'a/a', 'zz'), path)
  fc.assert(
    fc.property(fc.array(path, { maxLength: 60 }), after, fc.nat(8), (paths, after, limit) => {
      const names = new Set(paths.map((each) => (each.includes('/') ? each.slice(0, each.indexOf('/') + 1) : each)))
      const expected = [...names].sort(compareKeys).filter((name) => after === '' || compareKeys(name, after) > 0)
      const { keysFrom } = keysOf(paths.map((each) => `p/${each}`))
      assert.deepEqual(childNames(keysFrom, 'p/', after, limit), expected.slice(0, limit))
      assert.deepEqual(childNames(keysFrom, 'p/', after, Number.POSITIVE_INFINITY), expected)
    }),
    { seed: testSeed(t), numRuns: 300 },
  )
})

test('what lies deep below a name is passed over', () => {
  const keys = Array.from({ length: 10_000 }, (_, number) => `p/f${number % 10}/x/${number}`)
  const { keysFrom, counts } = keysOf(keys)
  assert.equal(childNames(keysFrom, 'p/', '', Number.POSITIVE_INFINITY).length, 10)
  assert.ok(counts.keys < 50, `${counts.keys} keys were read for 10 names`)
})

test('behind many siblings, deep names are still passed over', () => {
  const siblings = Array.from({ length: 1_000 }, (_, number) => `p/a${number}`)
  const deep = Array.from({ length: 20_000 }, (_, number) => `p/f${number % 20}/x/${number}`)
  const { keysFrom, counts } = keysOf([...siblings, ...deep])
  assert.equal(childNames(keysFrom, 'p/', '', Number.POSITIVE_INFINITY).length, 1_020)
  assert.ok(counts.keys < 2_000, `${counts.keys} keys were read for 1020 names`)
})

test('many siblings are read in large pages', () => {
  const { keysFrom, counts } = keysOf(Array.from({ length: 5_000 }, (_, number) => `p/${number}`))
  assert.equal(childNames(keysFrom, 'p/', '', Number.POSITIVE_INFINITY).length, 5_000)
  assert.ok(counts.calls < 40, `${counts.calls} pages were read for 5000 names`)
})
