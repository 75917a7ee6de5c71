import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wireHeaders } from './headers.ts'

const audited = (headers: Record<string, string | string[]>, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(wireHeaders(headers, names).audited ?? {}))

test('recorded headers are those that were sent, whatever names operators chose', () => {
  const names = ['x-tenant', 'constructor', 'tostring', '__proto__', 'hasownproperty', 'valueof']
  assert.deepEqual(audited({ 'x-tenant': 'a', other: 'b' }, names), { 'x-tenant': 'a' })
  assert.deepEqual(audited({ constructor: 'a' }, names), { constructor: 'a' })
  assert.deepEqual(audited({ 'x-tenant': ['a', 'b'] }, names), { 'x-tenant': 'a, b' })
})

test('what is recorded can be sent to another thread', () => {
  const headers = wireHeaders({ 'x-tenant': 'a' }, ['constructor', 'x-tenant'])
  assert.deepEqual(structuredClone(headers), { ...headers, audited: { 'x-tenant': 'a' } })
})

test('C8: headers that mounts pass on are taken by their names, and no others', () => {
  const headers = { 'x-one': '1', 'x-two': ['2', '3'], 'x-three': '4' }
  assert.equal(wireHeaders(headers).passed, undefined)
  const { passed } = wireHeaders(headers, [], ['x-one', 'x-two', 'constructor', 'x-none'])
  assert.deepEqual({ ...passed }, { 'x-one': '1', 'x-two': '2, 3' })
})

test('4c.20: headers about the state of other clusters are taken where they are sent', () => {
  assert.deepEqual(Object.keys(wireHeaders({ 'x-vault-token': 't' })).includes('index'), false)
  const sent = { 'x-vault-index': 'a, b', 'x-vault-inconsistent': 'fail' }
  const { index, inconsistent } = wireHeaders(sent)
  assert.deepEqual([index, inconsistent], ['a, b', 'fail'])
  assert.equal(wireHeaders({ 'x-vault-index': 'a' }).inconsistent, undefined)
})
