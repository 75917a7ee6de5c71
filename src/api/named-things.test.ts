import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from './errors.ts'
import { int, string } from './fields.ts'
import { namedThings, namesAnswer, orNotFound, pageOf } from './named-things.ts'
import { ROOT } from './namespace.ts'
import { integer } from './shape.ts'

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

type Toys = Map<string, number>

const toys = (more: { readonly tellsNew?: true }) =>
  namedThings({
    id: 'toy',
    listId: 'all-toys',
    path: 'toys',
    name: { toy: string('Name', { required: true }) },
    summaries: { list: 'Toys', read: 'A toy', write: 'Makes a toy', delete: 'Removes a toy' },
    descriptions: { write: 'Or changes it.' },
    response: { size: integer('Size') },
    fields: { size: int('Size', { default: 1 }) },
    ...more,
    names: async (engine: Toys, page) => pageOf([...engine.keys()].sort(), page),
    find: async (engine: Toys, name) => engine.get(name),
    body: (size, name, engine) => ({ name, size, of: engine.size }),
    write: async (engine: Toys, name, { size }, { operation }) => {
      engine.set(name, size)
      return { warnings: [operation] }
    },
    remove: async (engine: Toys, name) => void engine.delete(name),
  })

test('things under names have a list, and one of them is read, written and removed', async () => {
  const endpoints = toys({})
  assert.deepEqual(
    endpoints.map(({ id, operation, path, capability, runsOn }) => [id, operation, path, capability, runsOn]),
    [
      ['all-toys', 'list', 'toys', 'list', 'any-node'],
      ['toy-read', 'read', 'toys/:toy', 'read', 'any-node'],
      ['toy-write', 'update', 'toys/:toy', 'update', 'writer'],
      ['toy-delete', 'delete', 'toys/:toy', 'delete', 'writer'],
    ],
  )
  assert.deepEqual(
    endpoints.map(({ describe, fields }) => [describe, Object.keys(fields)]),
    [
      [undefined, ['after', 'limit']],
      [undefined, ['toy']],
      ['Or changes it.', ['toy', 'size']],
      [undefined, ['toy']],
    ],
  )
  const engine: Toys = new Map([['ball', 3]])
  const [list, read, write, remove] = endpoints.map(
    ({ handler }) =>
      async (args: object) =>
        handler(engine as never, args as never, { operation: 'create' } as never),
  )
  assert.deepEqual(await write?.({ toy: 'car', size: 2 }), { warnings: ['create'] })
  assert.deepEqual(await list?.({ after: '', limit: 0 }), { data: { keys: ['ball', 'car'] } })
  assert.deepEqual(await read?.({ toy: 'car' }), { data: { name: 'car', size: 2, of: 2 } })
  assert.deepEqual(await remove?.({ toy: 'car' }), {})
  await assert.rejects(async () => read?.({ toy: 'car' }), isNotFound)
  await assert.rejects(async () => list?.({ after: 'ball', limit: 0 }), isNotFound)
})

test('policies tell a new thing from a changed one only where it is said', async () => {
  const engine: Toys = new Map([['ball', 3]])
  const [, , write] = toys({ tellsNew: true })
  const token = { id: '', entry: { namespace: ROOT.id } }
  assert.equal(write?.capability, 'create-or-update')
  assert.equal(await write?.exists?.(engine as never, { toy: 'ball' }, token, ROOT), true)
  assert.equal(await write?.exists?.(engine as never, { toy: 'car' }, token, ROOT), false)
  assert.equal(toys({})[2]?.exists, undefined)
})
