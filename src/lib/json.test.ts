// JSON_DOCUMENTS=100000 node --test src/lib/json.test.ts runs the long form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../test/fixtures/seed.ts'
import { DEFAULT_JSON_LIMITS, JsonError, type JsonLimits, MAX_OBJECT_MEMBERS, parseJson } from './json.ts'

const DOCUMENTS = Number(process.env.JSON_DOCUMENTS ?? 2_000)

const parse = (text: string, limits?: JsonLimits): unknown => parseJson(Buffer.from(text), limits)

/** The result of the runtime's parser; undefined if it refuses. */
function reference(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function ours(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parse(text) }
  } catch (cause) {
    assert(cause instanceof JsonError)
    return undefined
  }
}

/** Texts that make the scan's work hard: quotes, backslashes, brackets, and lengths around its native search. */
const hardText = fc.array(
  fc.constantFrom('"', '\\', '{', '}', '[', ']', 'a', 'ä', '💥', 'x'.repeat(63), 'y'.repeat(64)),
  {
    maxLength: 12,
  },
)
const document = fc.oneof(
  fc.json({ maxDepth: 6, stringUnit: 'binary' }),
  fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value, null, 2)),
  hardText.map((parts) => JSON.stringify({ [parts.join('')]: parts })),
)

test('agrees with the runtime on documents', (context) => {
  const seed = testSeed(context)
  fc.assert(
    fc.property(document, (text) => {
      assert.deepEqual(ours(text), reference(text))
    }),
    { seed, numRuns: DOCUMENTS },
  )
})

test('agrees with the runtime on documents that are cut, mixed up or changed', (context) => {
  const seed = testSeed(context)
  const place = fc.nat(1_000)
  const inserted = fc.constantFrom(
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '\u0000',
    '1',
    '-',
    'e',
    ' ',
    '\\u00',
    '\\"',
  )
  fc.assert(
    fc.property(document, place, inserted, fc.boolean(), (text, at, piece, isCut) => {
      const place = at % (text.length + 1)
      const bent = (text.slice(0, place) + piece + (isCut ? '' : text.slice(place))).toWellFormed()
      assert.deepEqual(ours(bent), reference(bent))
    }),
    { seed, numRuns: DOCUMENTS },
  )
})

test('H-02: nesting is bounded, wherever it stands', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  const { depth } = DEFAULT_JSON_LIMITS
  assert.doesNotThrow(() => parse(nested(depth)))
  assert.throws(() => parse(nested(depth + 1)), { name: 'JsonError', message: `nested deeper than ${depth} levels` })
  assert.throws(() => parse(`{"a":${nested(depth)}}`), /nested deeper/)
  assert.throws(() => parse('{"a":'.repeat(depth + 1)), /nested deeper/)
  assert.doesNotThrow(() => parse(`[${Array.from({ length: 100 }, () => nested(3)).join(',')}]`))
  assert.doesNotThrow(() => parse(JSON.stringify('['.repeat(1_000))), 'brackets in a text do not nest')
})

test('the number of members is bounded', () => {
  const limits = { depth: 3, containers: 10, members: 5 }
  assert.doesNotThrow(() => parse('[1,2,3,4,5,6]', limits))
  assert.doesNotThrow(() => parse('[",,,,,,,,,"]', limits))
  assert.throws(() => parse('[1,2,3,4,5,6,7]', limits), { name: 'JsonError', message: 'more than 5 members' })
})

test('A2: the members of one object are bounded, and those of arrays and of other objects are not', () => {
  const limits = { depth: 4, containers: 100, members: 100, objectMembers: 3 }
  const three = '{"a":1,"b":1,"c":1}'
  const four = '{"a":1,"b":1,"c":1,"d":1}'
  const message = 'more than 3 members of one object'
  for (const text of [
    three,
    `[${three},${three},1,2,3]`,
    `{"a":${three},"b":[1,2,3,4],"c":${three}}`,
    '{"a":[{},{},{},{}]}',
  ])
    assert.doesNotThrow(() => parse(text, limits), text)
  for (const text of [four, `[${three},${four}]`, `{"a":[1,2,3,4,${four}]}`, `{"a":${three},"b":[],"c":{},"d":1}`])
    assert.throws(() => parse(text, limits), { name: 'JsonError', message }, text)
  assert.throws(() => parse('{"a":1,"a":1,"a":1,"a":1}', limits), { name: 'JsonError', message })
  assert.doesNotThrow(() => parse('{",,,,":",,,,"}', limits))
  const most = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"${at}":1`).join(',')}}`
  assert.doesNotThrow(() => parse(most(MAX_OBJECT_MEMBERS)))
  assert.throws(() => parse(most(MAX_OBJECT_MEMBERS + 1)), /more than 10000 members of one object/)
})

test('A2: an object with too many names is read no further than to the first of these', () => {
  const names = '"a":1,'.repeat(MAX_OBJECT_MEMBERS)
  const deep = '['.repeat(DEFAULT_JSON_LIMITS.depth + 1)
  assert.throws(() => parse(`{${names}"b":${deep}`), /members of one object/)
  assert.throws(() => parse(`{${names.slice(6)}"b":${deep}`), /nested deeper/)
})

test('the number of arrays and objects is bounded', () => {
  const limits = { depth: 3, containers: 10, members: 100 }
  const flat = (count: number): string => `[${Array.from({ length: count - 1 }, () => '{}').join(',')}]`
  assert.doesNotThrow(() => parse(flat(10), limits))
  assert.throws(() => parse(flat(11), limits), { name: 'JsonError', message: 'more than 10 arrays and objects' })
})

test('a batch of 100,000 items is within the limits', () => {
  const items = Array.from({ length: 100_000 }, () => ({ plaintext: '' }))
  assert.doesNotThrow(() => parse(JSON.stringify({ batch_input: items })))
})

test('long texts end where they end', () => {
  for (const length of [0, 1, 61, 62, 63, 64, 65, 66, 127, 128, 1_000]) {
    for (const tail of ['', '\\', '\\\\', '"', '\\"', '"\\', '\\\\\\"', '[[[']) {
      for (const [index, before] of ['', '\\', '\\\\', '"'].entries()) {
        const text = `${before}${'x'.repeat(length)}${tail}`
        assert.deepEqual(parse(JSON.stringify([text, index])), [text, index])
      }
    }
  }
})

const REFUSED: readonly { readonly name: string; readonly bytes: Buffer; readonly message: string }[] = [
  { name: 'nothing', bytes: Buffer.alloc(0), message: 'not well-formed JSON' },
  { name: 'a text without an end', bytes: Buffer.from('"abc'), message: 'unexpected end inside a string' },
  { name: 'an escaped end', bytes: Buffer.from('"abc\\"'), message: 'unexpected end inside a string' },
  { name: 'something behind it', bytes: Buffer.from('{} {}'), message: 'not well-formed JSON' },
  { name: 'a byte order mark', bytes: Buffer.from('\ufeff{}'), message: 'not well-formed JSON' },
  { name: 'bytes that are no UTF-8', bytes: Buffer.from([0x22, 0xff, 0xfe, 0x22]), message: 'not valid UTF-8' },
  { name: 'an overlong encoding', bytes: Buffer.from([0x22, 0xc0, 0x80, 0x22]), message: 'not valid UTF-8' },
  { name: 'a surrogate in UTF-8', bytes: Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), message: 'not valid UTF-8' },
  { name: 'UTF-16', bytes: Buffer.from('{"a":1}', 'utf16le'), message: 'not well-formed JSON' },
  { name: 'a line break in a text', bytes: Buffer.from('"a\nb"'), message: 'not well-formed JSON' },
  { name: 'NaN', bytes: Buffer.from('NaN'), message: 'not well-formed JSON' },
]

for (const { name, bytes, message } of REFUSED) {
  test(`refuses ${name}`, () => {
    assert.throws(() => parseJson(bytes), { name: 'JsonError', message })
  })
}

test('N-08: no refusal quotes the input', () => {
  for (const text of ['{"password": hunter2}', '{"password": "hunter2', 'hunter2', '["hunter2",]']) {
    assert.throws(
      () => parse(text),
      (cause) => cause instanceof JsonError && !cause.message.includes('hunter2'),
    )
  }
})

test('N-07: a member __proto__ changes no prototype', () => {
  const value = parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>
  assert.equal(value.polluted, undefined)
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
  assert.deepEqual(Object.keys(value), ['__proto__'])
})

test('H-02: a text of escaped quotes is not searched anew for each of them', (t) => {
  const { indexOf } = Buffer.prototype
  let searches = 0
  t.mock.method(Buffer.prototype, 'indexOf', function (this: Buffer, value: number, from?: number) {
    searches++
    return indexOf.call(this, value, from)
  })
  for (const part of ['"', 'a"', '\\"', `${'x'.repeat(61)}"`, `${'x'.repeat(62)}\\`, `${'x'.repeat(63)}"`]) {
    const text = part.repeat(1_000)
    searches = 0
    assert.deepEqual(parseJson(Buffer.from(JSON.stringify({ text, more: part }))), { text, more: part })
    const bytes = JSON.stringify(text).length
    assert.ok(searches <= bytes / 64 + 2, `${JSON.stringify(part)}: ${searches} in ${bytes} bytes`)
  }
})
