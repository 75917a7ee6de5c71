import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutLastSlashes, withoutOuterSlashes } from './slashes.ts'

test('slashes at the ends go, and those within stay', () => {
  for (const [text, end, outer] of [
    ['', '', ''],
    ['/', '', ''],
    ['///', '', ''],
    ['a', 'a', 'a'],
    ['a/', 'a', 'a'],
    ['//a//b//', '//a//b', 'a//b'],
  ] as const) {
    assert.deepEqual([withoutLastSlashes(text), withoutOuterSlashes(text)], [end, outer])
  }
})

// A regular expression takes the square of the number of slashes: a million of them would take an hour.
test('a million slashes within a text take no time', () => {
  const text = `a${'/'.repeat(1_000_000)}a`
  assert.equal(withoutOuterSlashes(text), text)
})
