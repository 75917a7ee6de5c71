import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  anything,
  choice,
  flag,
  group,
  integer,
  listOf,
  mapOf,
  misfits,
  nullable,
  OTHERS,
  optional,
  shapesSchema,
  text,
} from './shape.ts'

const SHAPES = {
  name: text('Name'),
  size: integer('Size'),
  on: optional(flag('On')),
  inside: optional(group({ deep: nullable(text('Deep')) }, 'Inside')),
  list: optional(listOf(integer('Number'), 'List')),
  map: optional(mapOf(text('Text'), 'Map')),
  free: optional(anything('Free')),
}

const CASES: readonly { readonly value: unknown; readonly found: readonly string[] }[] = [
  { value: { name: 'a', size: 1 }, found: [] },
  { value: { name: 'a', size: 1, on: false, inside: { deep: null }, list: [1], map: { a: 'b' }, free: {} }, found: [] },
  { value: null, found: ['data is not an object'] },
  { value: [], found: ['data is not an object'] },
  { value: {}, found: ['data.name is missing', 'data.size is missing'] },
  { value: { name: 1, size: 1.5 }, found: ['data.name is not of kind string', 'data.size is not of kind int'] },
  { value: { name: null, size: 1 }, found: ['data.name is not of kind string'] },
  { value: { name: 'a', size: 1, more: 1 }, found: ['data.more is not declared'] },
  { value: { name: 'a', size: 1, on: 'true' }, found: ['data.on is not of kind bool'] },
  { value: { name: 'a', size: 1, inside: { deep: 1 } }, found: ['data.inside.deep is not of kind string'] },
  { value: { name: 'a', size: 1, inside: {} }, found: ['data.inside.deep is missing'] },
  { value: { name: 'a', size: 1, list: [1, 'a'] }, found: ['data.list[1] is not of kind int'] },
  { value: { name: 'a', size: 1, list: {} }, found: ['data.list is not of kind list'] },
  { value: { name: 'a', size: 1, map: { a: 1 } }, found: ['data.map.a is not of kind string'] },
  { value: { name: 'a', size: 1, map: [] }, found: ['data.map is not of kind map'] },
]

for (const { value, found } of CASES) {
  test(`${JSON.stringify(value)}: ${found.length === 0 ? 'fits' : found.join(', ')}`, () => {
    assert.deepEqual(misfits(SHAPES, value), found)
  })
}

test('a text that is one of a few is no other', () => {
  const shapes = { verdict: choice(['good', 'bad'], 'Verdict') }
  assert.deepEqual(misfits(shapes, { verdict: 'bad' }), [])
  assert.deepEqual(misfits(shapes, { verdict: 'better' }), ['data.verdict is not of kind string'])
  const verdict = { type: 'string', enum: ['good', 'bad'], description: 'Verdict' }
  assert.deepEqual(shapesSchema(shapes), { type: 'object', properties: { verdict }, required: ['verdict'] })
})

test('members whose names are data have one shape', () => {
  const shapes = { known: text('Known'), [OTHERS]: integer('Number') }
  assert.deepEqual(misfits(shapes, { known: 'a', x: 1, y: 2 }), [])
  assert.deepEqual(misfits(shapes, { known: 'a', x: 'b' }), ['data.x is not of kind int'])
  assert.deepEqual(shapesSchema(shapes), {
    type: 'object',
    properties: { known: { type: 'string', description: 'Known' } },
    additionalProperties: { type: 'integer', description: 'Number' },
    required: ['known'],
  })
})
