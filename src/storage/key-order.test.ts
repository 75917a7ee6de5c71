import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../test/fixtures/seed.ts'
import { compareKeys, folderEnd, justAfter } from './key-order.ts'

// Characters at the borders where UTF-8, UTF-16 and code points could disagree.
const text = fc
  .array(
    fc.constantFrom(
      '',
      '!',
      '/',
      '0',
      'a',
      '\u007f',
      '\u0080',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '\u{10ffff}',
    ),
  )
  .map((parts) => parts.join(''))
const bytes = (value: string): Buffer => Buffer.from(value)

test('keys are compared as their UTF-8 bytes are', (t) => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.equal(Math.sign(compareKeys(a, b)), Buffer.compare(bytes(a), bytes(b)))
    }),
    { seed: testSeed(t) },
  )
})

test('nothing lies between a key and what comes just after it', (t) => {
  fc.assert(
    fc.property(text, text, (key, other) => {
      assert.equal(compareKeys(other, key) > 0, compareKeys(other, justAfter(key)) >= 0)
    }),
    { seed: testSeed(t) },
  )
})

test('the end of a folder lies behind all of its keys and before the next sibling', (t) => {
  fc.assert(
    fc.property(text, text, (name, other) => {
      const folder = `${name}/`
      const isInside = compareKeys(other, folder) >= 0 && compareKeys(other, folderEnd(folder)) < 0
      assert.equal(isInside, other.startsWith(folder))
    }),
    { seed: testSeed(t) },
  )
})
