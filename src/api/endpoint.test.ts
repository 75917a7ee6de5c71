import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoint } from './endpoint.ts'
import { DONE } from './request.ts'

const definition = {
  id: 'probe',
  operation: 'update',
  path: 'probe',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Probes',
  fields: {},
  handler: () => DONE,
} as const

test('an endpoint that runs where writes are made says whose data it writes', () => {
  assert.throws(() => endpoint(definition), /endpoint probe: runs on the writer, and does not say what it writes/)
  for (const writes of ['set', 'cluster', 'node', 'mount', 'both'] as const) endpoint({ ...definition, writes })
  endpoint({ ...definition, writes: () => 'set' })
  endpoint({ ...definition, runsOn: 'any-node' })
})

test('only an endpoint that may write data of the set is kept for the primary', () => {
  endpoint({ ...definition, writes: 'set', onlyOnPrimary: true })
  endpoint({ ...definition, writes: () => 'set', onlyOnPrimary: true })
  for (const writes of ['cluster', 'node'] as const)
    assert.throws(() => endpoint({ ...definition, writes, onlyOnPrimary: true }), /kept for the primary/)
  assert.throws(() => endpoint({ ...definition, runsOn: 'any-node', onlyOnPrimary: true }), /kept for the primary/)
})
