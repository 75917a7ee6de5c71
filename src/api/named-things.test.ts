import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from './errors.ts'
import { namesAnswer, orNotFound } from './named-things.ts'

const isNotFound = (cause: unknown) => cause instanceof Refusal && cause.code === 'not_found' && cause.status === 404

test('a list answers its names as they are, and 404 where there is none', () => {
  assert.deepEqual(namesAnswer(['b', 'a/']), { data: { keys: ['b', 'a/'] } })
  assert.throws(() => namesAnswer([]), isNotFound)
})

test('only what is undefined is not found', () => {
  for (const thing of ['', 0, false, null]) assert.equal(orNotFound(thing), thing)
  assert.throws(() => orNotFound(undefined), isNotFound)
})
