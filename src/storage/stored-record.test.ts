import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  base64,
  byMember,
  checked,
  count,
  either,
  flag,
  group,
  integer,
  type Kind,
  listOf,
  mapOf,
  nullable,
  number,
  object,
  oneOf,
  optional,
  orUndefined,
  otherwise,
  text,
  texts,
  upgraded,
} from '../lib/member-kinds.ts'
import { StorageCorrupt } from './errors.ts'
import { decodeStored, encodeStored, type RecordOf, storedRecord } from './stored-record.ts'

const THING = storedRecord('A thing', {
  name: text,
  size: optional(count),
  parts: listOf(group({ labels: mapOf(text), weight: nullable(number) })),
  isOld: otherwise(flag, true),
})
const thing: RecordOf<typeof THING> = {
  name: 'n',
  size: 3,
  parts: [{ labels: { a: 'b' }, weight: null }],
  isOld: false,
}
const stored = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

test('a record is stored as JSON with the number of its format in front', () => {
  const text = '{"format":1,"name":"n","size":3,"parts":[{"labels":{"a":"b"},"weight":null}],"isOld":false}'
  assert.equal(THING.encode(thing).toString(), text)
  assert.deepEqual(THING.decode(Buffer.from(text)), thing)
})

test('a record whose type has the number keeps it where it stands', () => {
  const record = storedRecord('A thing', { name: text, format: oneOf(1) })
  assert.equal(record.encode({ name: 'n', format: 1 }).toString(), '{"name":"n","format":1}')
  assert.deepEqual(record.decode(stored({ name: 'n', format: 1 })), { name: 'n', format: 1 })
})

test('members that older versions did not store are as the definition says; those of newer ones are kept', () => {
  assert.deepEqual(THING.decode(stored({ format: 1, name: 'n', parts: [], tomorrow: [1] })), {
    name: 'n',
    parts: [],
    isOld: true,
    tomorrow: [1],
  })
  const strict = storedRecord(
    'A thing',
    { a: orUndefined(count), b: optional(text), c: otherwise(texts, []) },
    'dropped',
  )
  assert.deepEqual(strict.decode(stored({ format: 1, tomorrow: 1 })), { a: undefined, c: [] })
})

for (const { name, bytes, message } of [
  { name: 'no JSON', bytes: Buffer.from('{'), message: 'A thing is not well-formed JSON' },
  { name: 'no UTF-8', bytes: Buffer.from([0x22, 0xff, 0x22]), message: 'A thing is not valid UTF-8' },
  { name: 'no object', bytes: stored([1]), message: 'A thing has an unknown format' },
  { name: 'another format', bytes: stored({ ...thing, format: 2 }), message: 'A thing has an unknown format' },
  { name: 'no format', bytes: stored(thing), message: 'A thing has an unknown format' },
  { name: 'a member too few', bytes: stored({ format: 1, parts: [] }), message: 'A thing lacks "name"' },
  {
    name: 'a member of another kind',
    bytes: stored({ ...thing, format: 1, size: 'secret' }),
    message: 'A thing has a "size" that cannot be',
  },
  {
    name: 'null for a member that may be missing',
    bytes: stored({ ...thing, format: 1, size: null }),
    message: 'A thing has a "size" that cannot be',
  },
  {
    name: 'a wrong value in a map, whose names are data',
    bytes: stored({ ...thing, format: 1, parts: [thing.parts[0], { labels: { secret: 1 }, weight: 1 }] }),
    message: 'A thing has a "parts[1].labels.*" that cannot be',
  },
  {
    name: 'a part with a member too few',
    bytes: stored({ ...thing, format: 1, parts: [{ labels: {} }] }),
    message: 'A thing lacks "parts[0].weight"',
  },
]) {
  test(`a stored record with ${name} is refused by record and member, and nothing of it is told`, () => {
    assert.throws(() => THING.decode(bytes), new StorageCorrupt(message))
  })
}

test('a member is not found in what every object inherits', () => {
  assert.throws(() => storedRecord('A thing', { constructor: text }), /name of all objects/)
  const names = storedRecord('A thing', { names: mapOf(text) })
  const bytes = Buffer.from('{"format":1,"names":{"__proto__":"a","constructor":"b"}}')
  assert.deepEqual(Object.entries(names.decode(bytes).names), [
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ])
  assert.equal(names.encode(names.decode(bytes)).toString(), bytes.toString())
})

const NAMED = group({ name: text })
const KINDS: readonly {
  readonly name: string
  readonly kind: Kind<unknown>
  readonly good: unknown[]
  readonly bad: unknown[]
}[] = [
  { name: 'text', kind: text, good: ['', 'a'], bad: [1, null, {}, []] },
  { name: 'flag', kind: flag, good: [true, false], bad: ['true', 0, null] },
  { name: 'number', kind: number, good: [0, -1.5], bad: ['1', null] },
  { name: 'count', kind: count, good: [0, Number.MAX_SAFE_INTEGER], bad: [-1, 1.5, 2 ** 53, '1', null] },
  { name: 'integer within bounds', kind: integer({ min: -1, max: 3 }), good: [-1, 3], bad: [-2, 4, 0.5] },
  { name: 'base64', kind: base64, good: ['', 'AA=='], bad: ['A', 'A-==', 7] },
  { name: 'one of several', kind: oneOf('a', 'b'), good: ['a', 'b'], bad: ['c', 1, null, []] },
  { name: 'object', kind: object, good: [{}, { a: [1] }], bad: [[], null, 'x'] },
  { name: 'list', kind: texts, good: [[], ['a']], bad: [['a', 1], 'a', {}, null] },
  { name: 'map', kind: mapOf(count), good: [{}, { a: 1 }], bad: [{ a: 'b' }, [], null] },
  { name: 'nullable', kind: nullable(text), good: [null, 'a'], bad: [1, false] },
  { name: 'either', kind: either(text, NAMED), good: ['a', { name: 'a' }], bad: [1, {}, null] },
  {
    name: 'object by its member',
    kind: byMember({ never: group({ never: oneOf(true) }), atMs: group({ atMs: count }) }),
    good: [{ never: true }, { atMs: 1 }],
    bad: [{}, { never: false }, { atMs: '1' }, null, []],
  },
  { name: 'kind with a rule', kind: checked(count, (size) => size % 2 === 0), good: [0, 4], bad: [1, -2, 'x'] },
]
for (const { name, kind, good, bad } of KINDS) {
  test(`a ${name} is read as it is stored, and nothing else is`, () => {
    for (const value of good) assert.deepEqual(decodeStored('It', kind, encodeStored([value]).subarray(1, -1)), value)
    for (const value of bad)
      assert.throws(() => decodeStored('It', kind, stored(value)), StorageCorrupt, JSON.stringify(value))
  })
}

test('what older versions stored otherwise becomes what it is now, wherever it stands', () => {
  const record = storedRecord('A thing', {
    list: listOf(upgraded(NAMED, text, (name) => ({ name }))),
    map: mapOf(upgraded(NAMED, text, (name) => ({ name }))),
    one: upgraded(NAMED, text, (name) => ({ name })),
  })
  const old = { format: 1, list: ['a', { name: 'b' }], map: { c: 'c', d: { name: 'd' } }, one: 'e' }
  assert.deepEqual(record.decode(stored(old)), {
    list: [{ name: 'a' }, { name: 'b' }],
    map: { c: { name: 'c' }, d: { name: 'd' } },
    one: { name: 'e' },
  })
  assert.throws(() => record.decode(stored({ ...old, one: {} })), new StorageCorrupt('A thing lacks "one.name"'))
  assert.throws(() => record.decode(stored({ ...old, one: 7 })), /"one" that cannot be/)
})
