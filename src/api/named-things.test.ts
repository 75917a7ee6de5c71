import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from './errors.ts'
import { namesAnswer, orNotFound, pageOf } from './named-things.ts'

const isNotFound = (cause: unknown) => cause instanceof Refusal && cause.code === 'not_found' && cause.status === 404

test('a list answers its names as they are, and 404 where there is none', () => {
  assert.deepEqual(namesAnswer(['b', 'a/']), { data: { keys: ['b', 'a/'] } })
  assert.throws(() => namesAnswer([]), isNotFound)
})

test('a page begins behind a name, which need not be there, and 404 where nothing is behind it', () => {
  const all = ['a', 'c', 'd']
  assert.deepEqual(pageOf(all, { after: '', limit: 0 }), all)
  assert.deepEqual(pageOf(all, { after: '', limit: -1 }), all)
  assert.deepEqual(pageOf(all, { after: 'b', limit: 1 }), ['c'])
  assert.deepEqual(pageOf(all, { after: 'c', limit: 9 }), ['d'])
  assert.throws(() => pageOf(all, { after: 'd', limit: 1 }), isNotFound)
})

test('only what is undefined is not found', () => {
  for (const thing of ['', 0, false, null]) assert.equal(orNotFound(thing), thing)
  assert.throws(() => orNotFound(undefined), isNotFound)
})
