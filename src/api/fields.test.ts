import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from '../lib/json.ts'
import { type ErrorCode, Refusal } from './errors.ts'
import {
  batch,
  bool,
  bytes,
  decodeFields,
  duration,
  type Field,
  int,
  keyVersion,
  map,
  object,
  string,
  strings,
} from './fields.ts'

/** Nothing of the prototypes: what a handler gets is compared by what it holds. */
function plain(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('hex')
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

type Row = { readonly field: Field; readonly sent: JsonValue; readonly got: unknown }

/** Undefined: as if it had not been sent. */
const ACCEPTED: readonly Row[] = [
  { field: string(''), sent: 'text', got: 'text' },
  { field: string(''), sent: '', got: '' },
  { field: string(''), sent: 5, got: '5' },
  { field: string(''), sent: 1.5, got: '1.5' },
  { field: string(''), sent: true, got: '1' },
  { field: string(''), sent: false, got: '0' },
  { field: string(''), sent: null, got: '' },
  { field: string('', { oneOf: ['a', ''] }), sent: null, got: '' },
  { field: string('', { oneOf: ['1'] }), sent: 1, got: '1' },

  { field: int(''), sent: 5, got: 5 },
  { field: int(''), sent: -5, got: -5 },
  { field: int(''), sent: -0, got: 0 },
  { field: int(''), sent: 5.0, got: 5 },
  { field: int(''), sent: 2 ** 53 - 1, got: 2 ** 53 - 1 },
  { field: int(''), sent: '5', got: 5 },
  { field: int(''), sent: '-1', got: -1 },
  { field: int(''), sent: '+1', got: 1 },
  { field: int(''), sent: '-0', got: 0 },
  { field: int(''), sent: '0x1F', got: 31 },
  { field: int(''), sent: '-0x10', got: -16 },
  { field: int(''), sent: '0o17', got: 15 },
  { field: int(''), sent: '0b101', got: 5 },
  { field: int(''), sent: '010', got: 8 },
  { field: int(''), sent: '1_000', got: 1000 },
  { field: int(''), sent: '', got: 0 },
  { field: int(''), sent: true, got: 1 },
  { field: int(''), sent: false, got: 0 },
  { field: int(''), sent: null, got: undefined },
  { field: int('', { min: 1, max: 3 }), sent: 1, got: 1 },
  { field: int('', { min: 1, max: 3 }), sent: '3', got: 3 },

  { field: keyVersion(''), sent: 'latest', got: 0 },
  { field: keyVersion(''), sent: '', got: 0 },
  { field: keyVersion(''), sent: -0, got: 0 },
  { field: keyVersion(''), sent: '3', got: 3 },
  { field: keyVersion(''), sent: null, got: undefined },

  ...[true, 1, '1', 't', 'T', 'true', 'TRUE', 'True'].map((sent) => ({ field: bool(''), sent, got: true })),
  ...[false, 0, '0', 'f', 'F', 'false', 'FALSE', 'False', ''].map((sent) => ({ field: bool(''), sent, got: false })),
  { field: bool(''), sent: null, got: undefined },

  { field: duration(''), sent: 90, got: 90 },
  { field: duration(''), sent: 1.9, got: 1 },
  { field: duration(''), sent: -0.5, got: 0 },
  { field: duration(''), sent: '90', got: 90 },
  { field: duration(''), sent: 9_223_372_036, got: 9_223_372_036 },
  { field: duration(''), sent: '1h30m', got: 5400 },
  { field: duration(''), sent: '100ms', got: 1 },
  { field: duration(''), sent: 0.2, got: 1 },
  { field: duration(''), sent: '2d', got: 172_800 },
  { field: duration(''), sent: '', got: 0 },
  { field: duration(''), sent: null, got: undefined },

  { field: bytes(''), sent: 'AAE=', got: '0001' },
  { field: bytes(''), sent: '', got: '' },
  { field: bytes(''), sent: null, got: '' },

  { field: strings(''), sent: ['a', 'b,c'], got: ['a', 'b,c'] },
  { field: strings(''), sent: ['a', 1, true, null], got: ['a', '1', '1', ''] },
  { field: strings(''), sent: 'a, b ,c', got: ['a', 'b', 'c'] },
  { field: strings(''), sent: 'a,,b', got: ['a', '', 'b'] },
  { field: strings(''), sent: ' ', got: [] },
  { field: strings(''), sent: '', got: [] },
  { field: strings(''), sent: [], got: [] },
  { field: strings('', { max: 4 }), sent: ['ab', 'cd'], got: ['ab', 'cd'] },
  { field: strings(''), sent: 5, got: ['5'] },
  { field: strings(''), sent: null, got: undefined },

  { field: map(''), sent: { a: 'b', n: 1, t: true, z: null }, got: { a: 'b', n: '1', t: '1', z: '' } },
  { field: map(''), sent: {}, got: {} },
  { field: map(''), sent: null, got: undefined },

  { field: object('', { n: int('', { default: 7 }) }), sent: {}, got: { n: 7 } },
  { field: object('', { n: int('') }), sent: { n: '3', other: 1 }, got: { n: 3 } },
  { field: object('', { n: int('') }), sent: null, got: undefined },

  { field: items(), sent: [], got: [] },
  { field: items(), sent: [{ text: 'a', n: 1 }, { text: '' }], got: [{ text: 'a', n: 1 }, { text: '' }] },
  { field: items(), sent: [{ text: 'a', n: null, other: {} }], got: [{ text: 'a' }] },
  { field: items(), sent: null, got: undefined },
  { field: lenientItems(), sent: [{}, { text: null }, { text: 5 }], got: [{}, {}, { text: '5' }] },
]

function items(): Field {
  return batch('', { fields: { text: 'string', n: 'int' }, required: 'text' })
}

function lenientItems(): Field {
  return batch('', { fields: { text: 'string' }, required: 'text', lenient: true })
}

for (const { field, sent, got } of ACCEPTED) {
  test(`${field.kind} takes ${JSON.stringify(sent)}`, () => {
    assert.deepEqual(plain(field.decode(sent, 'x')), got)
  })
}

const REFUSED: readonly {
  readonly field: Field
  readonly sent: JsonValue
  readonly named?: string
  readonly code?: ErrorCode
}[] = [
  { field: string(''), sent: [] },
  { field: string(''), sent: {} },
  { field: string('', { oneOf: ['a', 'b'] }), sent: 'c', code: 'choice_unknown' },
  { field: string('', { oneOf: ['a', 'b'] }), sent: null, code: 'choice_unknown' },
  { field: int(''), sent: 1.5 },
  { field: int(''), sent: 2 ** 53 },
  { field: keyVersion(''), sent: 'newest' },
  { field: keyVersion(''), sent: 1.5 },
  { field: int(''), sent: 1e21 },
  { field: int(''), sent: Number.POSITIVE_INFINITY },
  { field: int(''), sent: '1.5' },
  { field: int(''), sent: '1e3' },
  { field: int(''), sent: '9007199254740992' },
  { field: int(''), sent: '9'.repeat(100) },
  { field: int(''), sent: '08' },
  { field: int(''), sent: '0x' },
  { field: int(''), sent: '0xg' },
  { field: int(''), sent: '_1' },
  { field: int(''), sent: '1_' },
  { field: int(''), sent: '-' },
  { field: int(''), sent: '--1' },
  { field: int(''), sent: ' 1' },
  { field: int(''), sent: [] },
  { field: int(''), sent: {} },
  { field: int('', { min: 1, max: 3 }), sent: 0, code: 'out_of_range' },
  { field: int('', { min: 1, max: 3 }), sent: '4', code: 'out_of_range' },
  { field: bool(''), sent: 'yes' },
  { field: bool(''), sent: 2 },
  { field: bool(''), sent: [] },
  { field: duration(''), sent: -1, code: 'out_of_range' },
  { field: duration(''), sent: '-1s', code: 'out_of_range' },
  { field: duration(''), sent: '1x' },
  { field: duration(''), sent: 1e300, code: 'out_of_range' },
  { field: duration(''), sent: 9_223_372_037, code: 'out_of_range' },
  { field: duration(''), sent: Number.MAX_SAFE_INTEGER, code: 'out_of_range' },
  { field: duration(''), sent: true },
  { field: duration(''), sent: {} },
  { field: bytes(''), sent: 'A', code: 'base64_invalid' },
  { field: bytes(''), sent: 'AAE', code: 'base64_invalid' },
  { field: bytes(''), sent: '-_-_', code: 'base64_invalid' },
  { field: bytes(''), sent: {} },
  { field: strings(''), sent: {} },
  { field: strings(''), sent: [{}] },
  { field: strings(''), sent: [['a']] },
  { field: strings(''), sent: Array.from({ length: 1_000 }, () => 'x'.repeat(1_049)), code: 'out_of_range' },
  { field: strings('', { max: 3 }), sent: ['ab', 'cd'], code: 'out_of_range' },
  { field: map(''), sent: 'a=b' },
  { field: map(''), sent: [] },
  { field: map(''), sent: { a: {} }, named: 'x.a' },
  { field: map(''), sent: JSON.parse('{"__proto__":"a"}'), code: 'name_invalid' },
  { field: map(''), sent: { constructor: 'a' }, code: 'name_invalid' },
  { field: object('', { n: int('') }), sent: { n: 'a' }, named: 'x.n' },
  { field: object('', { n: int('') }), sent: [] },
  { field: object('', { n: int('') }), sent: 'a' },
  { field: items(), sent: {} },
  { field: items(), sent: 'a' },
  { field: items(), sent: ['a'], named: 'x[0]' },
  { field: items(), sent: [{ text: 'a' }, null], named: 'x[1]' },
  { field: items(), sent: [{}], named: 'x[0].text' },
  { field: items(), sent: [{ text: null }], named: 'x[0].text' },
  { field: items(), sent: [{ text: 5 }], named: 'x[0].text' },
  { field: items(), sent: [{ text: 'a', n: '1' }], named: 'x[0].n' },
  { field: items(), sent: [{ text: 'a', n: 1.5 }], named: 'x[0].n' },
  { field: lenientItems(), sent: [{ text: true }], named: 'x[0].text' },
]

for (const { field, sent, named = 'x', code = 'field_invalid' } of REFUSED) {
  test(`${field.kind} refuses ${JSON.stringify(sent)?.slice(0, 60)} by name`, () => {
    assert.throws(
      () => field.decode(sent, 'x'),
      (cause) => cause instanceof Refusal && cause.code === code && cause.message.includes(`field "${named}"`),
    )
  })
}

test('no refusal repeats what was sent', () => {
  const secret = 'hunter2-of-the-caller'
  const kinds = [
    string('', { oneOf: ['a'] }),
    int(''),
    bool(''),
    duration(''),
    bytes(''),
    map(''),
    object('', {}),
    items(),
  ]
  for (const field of kinds) {
    assert.throws(
      () => field.decode(secret, 'x'),
      (cause) => cause instanceof Refusal && !cause.message.includes(secret),
      field.kind,
    )
  }
})

const FIELDS = {
  name: string('', { required: true }),
  size: int('', { default: 4 }),
  note: string('', { default: 'none' }),
  free: bool(''),
}

test('a field that is not sent has its default, or undefined', () => {
  assert.deepEqual(decodeFields(FIELDS, { name: 'a' }), { name: 'a', size: 4, note: 'none', free: undefined })
})

test('null gives the default, but for texts, which are then sent and empty', () => {
  const sent = { name: null, size: null, note: null, free: null }
  assert.deepEqual(decodeFields(FIELDS, sent), { name: '', size: 4, note: '', free: undefined })
})

test('a required field that is missing, or null where that means missing, is named', () => {
  const missing = { code: 'field_missing', message: 'Missing required field "name"' }
  assert.throws(() => decodeFields(FIELDS, {}), missing)
  assert.throws(() => decodeFields(FIELDS, undefined), missing)
  const required = { count: int('', { required: true }) }
  assert.throws(() => decodeFields(required, { count: null }), { message: 'Missing required field "count"' })
  const inside = { config: object('', required) }
  assert.throws(() => decodeFields(inside, { config: {} }), { message: 'Missing required field "config.count"' })
})

test('what stands in the path comes before what stands in the body', () => {
  assert.equal(decodeFields(FIELDS, { name: 'body' }, { name: 'path' }).name, 'path')
})

test('a number in the path is decimal, with zeros or a plus in front too; one in the body as clients write it', () => {
  const fields = { count: int('', { max: 100 }) }
  for (const [text, count] of [
    ['010', 10],
    ['08', 8],
    ['+16', 16],
    ['-1', -1],
    ['-0', 0],
  ] as const)
    assert.equal(decodeFields(fields, { count: 3 }, { count: text }).count, count, text)
  for (const text of ['0x10', '1_6', '', ' 1', '1 ', '1.0', '1e1', 'true', '1/2', '9'.repeat(16)])
    assert.throws(() => decodeFields(fields, undefined, { count: text }), /"count": expected a decimal number/, text)
  assert.equal(decodeFields(fields, { count: '010' }).count, 8)
})

test('inherited names are not fields of the body', () => {
  const fields = { toString: string('', { default: 'own' }), constructor: string('') }
  assert.deepEqual(decodeFields(fields, {}), { toString: 'own', constructor: undefined })
})

test('a map has no prototype', () => {
  const decoded = map('').decode({ a: 'b' }, 'x')
  assert.equal(Object.getPrototypeOf(decoded), null)
})

test('a field tells of itself, and of what is inside', () => {
  const field = object('Tuning', { level: int('How much', { min: 1, max: 3, default: 2 }) })
  assert.deepEqual(field.schema, {
    type: 'object',
    properties: { level: { type: 'integer', minimum: 1, maximum: 3, default: 2, description: 'How much' } },
  })
  assert.deepEqual(Object.keys(field.members), ['level'])
  assert.deepEqual(
    Object.entries(items().members ?? {}).map(([name, member]) => [name, member.required]),
    [
      ['text', true],
      ['n', false],
    ],
  )
  assert.equal(lenientItems().members?.text?.required, false)
})

test('H-02: of a text with more commas than a list has items no longer list is made', (t) => {
  const { split } = String.prototype
  const lengths: number[] = []
  t.mock.method(String.prototype, 'split', function (this: string, by: string, limit?: number) {
    const parts = split.call(this, by as never, limit)
    lengths.push(parts.length)
    return parts
  })
  const field = strings('')
  assert.equal(field.decode('a,'.repeat(999), 'list')?.length, 1_000)
  for (const text of ['a,'.repeat(1_000), 'a,'.repeat(100_000)])
    assert.throws(() => field.decode(text, 'list'), /at most 1000 items/)
  assert.ok(Math.max(...lengths) <= 1_001, `${Math.max(...lengths)}`)
})
