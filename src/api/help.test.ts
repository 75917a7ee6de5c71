import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoint } from './endpoint.ts'
import { batch, bytes, int, object, string } from './fields.ts'
import { describeEndpoint } from './help.ts'
import { Router } from './router.ts'

const common = { runsOn: 'any-node', handler: () => ({}) } as const
const ROUTER = new Router([
  endpoint({
    ...common,
    id: 'read',
    operation: 'read',
    path: 'things/:name',
    capability: 'read',
    summary: 'Shows it',
    fields: { name: string('Its name', { required: true }) },
  }),
  endpoint({
    ...common,
    id: 'write',
    operation: 'update',
    path: 'things/:name',
    capability: 'update',
    summary: 'Changes it',
    describe: 'At once.',
    fields: {
      name: string('Its name', { required: true }),
      level: int('How much', { min: 1, max: 3, default: 2 }),
      kind: string('Which', { oneOf: ['a', 'b'], default: 'a' }),
      seed: bytes('Start', { default: Buffer.from([1]) }),
      config: object('Tuning', { depth: int('How deep', { min: 0 }) }),
      items: batch('Several', { fields: { text: 'string' }, required: 'text' }),
    },
  }),
])

test('help of an engine has the summaries in one column, however long a path is', () => {
  const path = 'things-with-a-name/that-is-longer/than-most'
  const long = endpoint({
    ...common,
    id: 'long',
    operation: 'read',
    path,
    capability: 'read',
    summary: 'It',
    fields: {},
  })
  const lines = describeEndpoint(new Router([...ROUTER.endpoints, long]), '')?.split('\n')
  assert.deepEqual(lines?.slice(1), [`POST   ${'things/:name'.padEnd(path.length)} Changes it`, `GET    ${path} It`])
})

test('help lists what can be done at a path, with the fields', () => {
  assert.equal(
    describeEndpoint(ROUTER, 'things/x'),
    `GET    things/:name                    Shows it

  name (string, required)
      Its name

POST   things/:name                    Changes it

At once.

  name (string, required)
      Its name
  level (int, 1 to 3, default 2)
      How much
  kind (string, one of "a", "b", default "a")
      Which
  seed (bytes, default "AQ==")
      Start
  config (object)
      Tuning
  config.depth (int, at least 0)
      How deep
  items (batch)
      Several
  items[].text (string, required)
      Same as the top-level field of this name`,
  )
})

test('help of the engine lists its endpoints', () => {
  assert.equal(
    describeEndpoint(ROUTER, ''),
    'GET    things/:name                    Shows it\nPOST   things/:name                    Changes it',
  )
})

test('there is no help where there is nothing', () => {
  assert.equal(describeEndpoint(ROUTER, 'nothing'), undefined)
  assert.equal(describeEndpoint(ROUTER, 'things'), undefined)
})
