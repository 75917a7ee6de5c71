import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { WeighedCache } from './weighed-cache.ts'

const kept = (cache: WeighedCache<number>, keys: string): string => [...keys].filter((key) => cache.has(key)).join('')

test('what has been kept longest goes where there are too many, or where they weigh too much', () => {
  const cache = new WeighedCache<number>({ entries: 3, weight: 10 })
  for (const key of 'abc') cache.keep(key, 1, 1)
  assert.equal(kept(cache, 'abcdef'), 'abc')
  cache.keep('d', 1, 1)
  assert.equal(kept(cache, 'abcdef'), 'bcd')
  cache.keep('e', 1, 8)
  assert.equal(kept(cache, 'abcdef'), 'cde')
  cache.keep('f', 1, 3)
  assert.equal(kept(cache, 'abcdef'), 'f')
})

test('a value that is kept anew weighs once, and one that is heavier than all may be stands alone', () => {
  const cache = new WeighedCache<number>({ entries: 3, weight: 10 })
  for (let time = 0; time < 5; time++) cache.keep('a', time, 9)
  assert.equal(cache.get('a'), 4)
  cache.keep('b', 1, 1)
  assert.equal(kept(cache, 'ab'), 'ab')
  cache.keep('c', 1, 11)
  assert.equal(kept(cache, 'abc'), 'c')
  cache.clear()
  cache.keep('d', 1, 10)
  assert.deepEqual([kept(cache, 'abcd'), cache.get('a')], ['d', undefined])
})
