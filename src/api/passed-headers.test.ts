import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_HEADER_NAME_CHARACTERS, seen, settable, whyNotSeen, whyNotSet } from './passed-headers.ts'

const GIVES_ACCESS = [
  'Authorization',
  'authorization',
  'X-Vault-Token',
  'X-VAULT-TOKEN',
  'Proxy-Authorization',
  'Cookie',
  'Set-Cookie',
  'X-Vault-Inline-Auth-Parameter-password',
]

test('C8: what gives access passes in neither direction, however it is spelled', () => {
  for (const name of GIVES_ACCESS) {
    assert.match(whyNotSeen(name) ?? '', /gives access/, name)
    assert.match(whyNotSet(name) ?? '', /gives access/, name)
    const there = { [name.toLowerCase()]: 'secret' }
    // A setting of another version, or of a snapshot.
    assert.deepEqual({ ...seen(there, [name]) }, {})
    assert.deepEqual({ ...settable(there, [name]) }, {})
  }
})

test('C8: what says how an answer is read, or who reads it, is not set by an engine', () => {
  for (const name of [
    'Content-Type',
    'content-length',
    'Transfer-Encoding',
    'Cache-Control',
    'Content-Security-Policy',
    'Access-Control-Allow-Origin',
    'X-Vault-Index',
    'Vary',
  ]) {
    assert.match(whyNotSet(name) ?? '', /the server's own/, name)
    assert.equal(whyNotSeen(name), undefined, name)
  }
  for (const name of ['Location', 'Last-Modified', 'Link', 'Replay-Nonce']) assert.equal(whyNotSet(name), undefined)
})

test('C8: a name has letters, digits and dashes, up to its limit', () => {
  const longest = 'x'.repeat(MAX_HEADER_NAME_CHARACTERS)
  assert.equal(whyNotSeen(longest), undefined)
  for (const name of ['', '*', 'X A', 'X:A', 'X_A', 'ü', `${longest}x`]) {
    assert.match(whyNotSeen(name) ?? '', /names of headers/, name)
    assert.match(whyNotSet(name) ?? '', /names of headers/, name)
  }
})

test('C8: what is named passes, in lower case, and nothing of a prototype does', () => {
  const found = { 'x-one': '1', 'x-two': '2' }
  assert.deepEqual({ ...seen(found, ['X-One', 'x-three', 'constructor', 'toString']) }, { 'x-one': '1' })
  assert.deepEqual({ ...settable({ 'X-One': '1', 'X-Two': '2' }, ['x-two', 'constructor']) }, { 'x-two': '2' })
  for (const broken of ['a\r\nX-Evil: b', 'a\u0000', 'ü']) assert.deepEqual({ ...settable({ a: broken }, ['a']) }, {})
})
