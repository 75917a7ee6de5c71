import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { freezePlain } from './freeze.ts'

test('plain objects and lists are frozen all the way down, other things stay as they are', () => {
  const bytes = Buffer.from('x')
  const map = new Map([['a', 1]])
  const value = freezePlain({ list: [{ a: 1 }], bytes, map, nothing: null, bare: Object.create(null) as object })
  for (const frozen of [value, value.list, value.list[0], value.bare]) assert.ok(Object.isFrozen(frozen))
  for (const free of [bytes, map]) assert.ok(!Object.isFrozen(free))
  assert.throws(() => value.list.push({ a: 2 }), TypeError)
})
