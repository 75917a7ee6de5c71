// The form of X-Vault-Index, against what public clients parse, and against changed values.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { decodeIndex, encodeIndex } from './index-value.ts'

const BYTES = Buffer.alloc(32, 7)
const KEY = importSecret(Buffer.from(BYTES))
const VALUE = { cluster: '6b8f4b9c-4f3e-4b8f-9a52-0c8d3a8d1c11', local: 120, replicated: 117 }

/** Any text in the form, with a right MAC. */
function made(stated: string, key = BYTES): string {
  const mac = createHmac('sha256', key).update(stated).digest('hex')
  return Buffer.from(`${stated}:${mac}`).toString('base64')
}

/** As the public client for Go parses it: the last colon first, then exactly four parts. */
function parsedByClient(text: string): readonly string[] {
  const whole = Buffer.from(text, 'base64').toString()
  const end = whole.lastIndexOf(':')
  assert.equal(createHmac('sha256', BYTES).update(whole.slice(0, end)).digest('hex'), whole.slice(end + 1))
  const parts = whole.slice(0, end).split(':')
  assert.equal(parts.length, 4)
  return parts
}

test('a value is what public clients parse, to the byte', () => {
  const text = encodeIndex(KEY, VALUE)
  assert.equal(text, made('v1:6b8f4b9c-4f3e-4b8f-9a52-0c8d3a8d1c11:120:117'))
  assert.deepEqual(parsedByClient(text), ['v1', VALUE.cluster, '120', '117'])
  assert.equal(
    encodeIndex(KEY, { cluster: 'c', local: 1, replicated: 0 }),
    // Made with openssl dgst -sha256 -mac HMAC -macopt hexkey:0707…
    'djE6YzoxOjA6ZWY3MjE1MmI1YjU2OWRhZGE3ODkyYTRhODU4NmFmMGE4YWFiZmZlMTA0M2EwZjYwODUxYzJkYzc2MmYxZDI3OQ==',
  )
})

test('what was encoded is decoded, up to the highest index of a log', () => {
  for (const value of [VALUE, { cluster: 'c', local: 0, replicated: 0 }, { ...VALUE, local: 2 ** 53 - 1 }])
    assert.deepEqual(decodeIndex(KEY, encodeIndex(KEY, value)), value)
  const most = decodeIndex(KEY, made('v1:c:18446744073709551615:1'))
  assert.deepEqual(most, { cluster: 'c', local: 2 ** 64, replicated: 1 })
})

const REFUSED: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['no base64', '%%%'],
  ['base64 without its padding', encodeIndex(KEY, { ...VALUE, cluster: 'abc' }).replace(/=+$/, '')],
  ['base64 for addresses', made('v1:c?>~:1:1').replaceAll('+', '-').replaceAll('/', '_')],
  ['a line break behind it', `${encodeIndex(KEY, VALUE)}\n`],
  ['another version', made('v2:c:1:1')],
  ['no cluster', made('v1::1:1')],
  ['a part too few', made('v1:c:1')],
  ['a part too many', made('v1:c:1:1:1')],
  ['a negative index', made('v1:c:-1:1')],
  ['an index with a sign', made('v1:c:+1:1')],
  ['an index with a zero before it', made('v1:c:01:1')],
  ['no index', made('v1:c::1')],
  ['an index of more than 64 bits', made('v1:c:1:18446744073709551616')],
  ['a fraction', made('v1:c:1.5:1')],
  ['a MAC of another key', made('v1:c:1:1', Buffer.alloc(32, 8))],
  ['no MAC', Buffer.from('v1:c:1:1').toString('base64')],
  ['a MAC that is cut', Buffer.from(Buffer.from(made('v1:c:1:1'), 'base64').subarray(0, -2)).toString('base64')],
  ['a MAC in capitals', Buffer.from(macInCapitals(made('v1:c:1:1'))).toString('base64')],
  ['a MAC of nothing', made('')],
  ['a value that is too long', made(`v1:${'c'.repeat(400)}:1:1`)],
]

function macInCapitals(text: string): string {
  const whole = Buffer.from(text, 'base64').toString()
  return whole.slice(0, -64) + whole.slice(-64).toUpperCase()
}

for (const [what, text] of REFUSED) {
  test(`a value is refused that is ${what}`, () => assert.equal(decodeIndex(KEY, text), undefined))
}

test('no byte of a value can be changed', () => {
  const bytes = Buffer.from(encodeIndex(KEY, VALUE), 'base64')
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.equal(decodeIndex(KEY, changed.toString('base64')), undefined, `byte ${at}`)
  }
})
