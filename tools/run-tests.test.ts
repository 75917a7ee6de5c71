import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findTests, inOrder, LONGEST, readTestOptions } from './run-tests.ts'

const found = findTests(fileURLToPath(new URL('..', import.meta.url)), [])

test('the order of the tests leaves none out and takes none twice', () => {
  assert.ok(found.length > 300, `${found.length} files`)
  assert.deepEqual(inOrder(found).toSorted(), found)
})

test('the longest tests begin first, and are there', () => {
  assert.deepEqual(inOrder(found).slice(0, LONGEST.length), LONGEST)
})

test('options are read before and behind the patterns', () => {
  const none = { patterns: [], timesPath: undefined, isTogether: false }
  assert.deepEqual(readTestOptions([]), none)
  assert.deepEqual(readTestOptions(['a', '--together', 'b']), { ...none, patterns: ['a', 'b'], isTogether: true })
  assert.deepEqual(readTestOptions(['--times', 'f', 'a']), { ...none, patterns: ['a'], timesPath: 'f' })
})
