import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../test/fixtures/seed.ts'
import { SaltedHmac } from '../crypto/primitives/salted-hmac.ts'
import { LongText } from '../lib/long-text.ts'
import { quoted } from './ascii-json.ts'
import { hasLongList, ITEMS_AT_ONCE, redact, redactInSlices } from './redactor.ts'

const salt = randomBytes(32)
const hmac = new SaltedHmac(salt)
const hashed = (text: string | Buffer): string => `hmac-sha256:${createHmac('sha256', salt).update(text).digest('hex')}`
const read = (text: string): unknown => JSON.parse(text)

test('texts become HMACs; numbers, booleans, null and names of members stay', () => {
  const value = { plaintext: 'secret', version: 3, ok: true, off: false, none: null, list: ['a', 1], deep: { b: 'c' } }
  assert.deepEqual(read(redact(value, { hmac })), {
    plaintext: hashed('secret'),
    version: 3,
    ok: true,
    off: false,
    none: null,
    list: [hashed('a'), 1],
    deep: { b: hashed('c') },
  })
})

// U-04: the types that reference servers forgot.
const ODD: readonly { readonly name: string; readonly value: unknown; readonly is: unknown }[] = [
  { name: 'a Buffer', value: Buffer.from([1, 2]), is: hashed(Buffer.from([1, 2])) },
  { name: 'a part of a buffer', value: Buffer.from([0, 1, 2, 3]).subarray(1, 3), is: hashed(Buffer.from([1, 2])) },
  { name: 'a typed array', value: new Uint16Array([1]), is: hashed(Buffer.from([1, 0])) },
  { name: 'an ArrayBuffer', value: new Uint8Array([7]).buffer, is: hashed(Buffer.from([7])) },
  { name: 'a DataView', value: new DataView(new Uint8Array([7, 8]).buffer, 1), is: hashed(Buffer.from([8])) },
  { name: 'a long text of bytes', value: new LongText(Buffer.from('text')), is: hashed('text') },
  { name: 'a Map', value: new Map([['a', 's']]), is: { a: hashed('s') } },
  { name: 'a Set', value: new Set(['s']), is: [hashed('s')] },
  { name: 'a Date', value: new Date(0), is: hashed('1970-01-01T00:00:00.000Z') },
  { name: 'a bigint', value: 12n, is: hashed('12') },
  { name: 'a symbol', value: Symbol('s'), is: hashed('Symbol(s)') },
  { name: 'a function', value: Math.max, is: hashed(String(Math.max)) },
  { name: 'no number', value: Number.NaN, is: null },
  { name: 'an endless number', value: Number.POSITIVE_INFINITY, is: null },
  { name: 'nothing', value: undefined, is: null },
  { name: 'a member without a value', value: { a: undefined, b: 1 }, is: { b: 1 } },
  { name: 'a boxed text', value: [Object('s')], is: [hashed('s')] },
]
for (const { name, value, is } of ODD) {
  test(`U-04: ${name} is not passed through`, () => {
    // A boxed text is not a JSON string here but an object of its characters: none of them may show.
    if (name === 'a boxed text') assert.equal(redact(value, { hmac }).includes('"s"'), false)
    else assert.deepEqual(read(redact(value, { hmac })), is)
  })
}

test('U-09: what cannot be read, or never ends, is redacted as a whole', () => {
  const circle: Record<string, unknown> = { secret: 'S3CRET' }
  circle.self = circle
  const throwing = {
    get secret(): string {
      throw new Error('S3CRET')
    },
  }
  const hostile = { toJSON: () => ({ toJSON: () => 'S3CRET' }) }
  for (const value of [circle, throwing, hostile, Object.create(null, { x: { value: 'S3CRET', enumerable: true } })]) {
    const text = redact(value, { hmac })
    assert.equal(text.includes('S3CRET'), false)
    read(text)
  }
})

test('members that were declared harmless stay readable, with all below them', () => {
  const value = { name: 'k', deep: { name: ['a', { x: 'y' }], other: 'z' } }
  assert.deepEqual(read(redact(value, { hmac, clear: ['name'] })), {
    name: 'k',
    deep: { name: ['a', { x: 'y' }], other: hashed('z') },
  })
})

test('without an HMAC everything is written as it is, bytes in base64', () => {
  assert.deepEqual(read(redact({ a: 's', b: Buffer.from([1, 2, 3]) }, { hmac: undefined })), { a: 's', b: 'AQID' })
})

const jsonValues = fc.jsonValue({ maxDepth: 6 })

/** Returns the value with every text replaced. */
function expected(value: unknown): unknown {
  if (typeof value === 'string') return hashed(value)
  if (Array.isArray(value)) return value.map(expected)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expected(member)]))
}

test('P-37: any JSON becomes one line of ASCII with the same shape and no text of it', (t) => {
  fc.assert(
    fc.property(jsonValues, (value) => {
      const text = redact(value, { hmac })
      assert.match(text, /^[ -~]*$/)
      assert.deepEqual(read(text), JSON.parse(JSON.stringify(expected(value))))
    }),
    { seed: testSeed(t), numRuns: 2_000 },
  )
})

test('U-09: whatever is in it, the result is JSON in ASCII and nothing is thrown', (t) => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: true,
    withBoxedValues: true,
    withObjectString: true,
    stringUnit: 'binary',
  })
  fc.assert(
    fc.property(anything, (value) => {
      for (const redaction of [{ hmac }, { hmac: undefined }]) {
        const text = redact(value, redaction)
        assert.match(text, /^[ -~]*$/)
        read(text)
      }
    }),
    { seed: testSeed(t), numRuns: 2_000 },
  )
})

test('any text is quoted in ASCII and reads as itself', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.match(quoted(text), /^[ -~]*$/)
      assert.equal(read(quoted(text)), text)
    }),
    { seed: testSeed(t) },
  )
  for (const text of ['\ud800', 'a\u2028b', '\u007f', '\u0000', '"\\', '\n']) assert.equal(read(quoted(text)), text)
})

test('P-42: long lists are redacted in slices, to the same text', async () => {
  const items = Array.from({ length: 2 * ITEMS_AT_ONCE + 1 }, (_, at) => ({ plaintext: `p${at}`, at }))
  const value = { batch_input: items, name: 'x', gone: undefined }
  assert.equal(hasLongList(value), true)
  assert.equal(hasLongList({ batch_input: items.slice(1) }), false)
  let pauses = 0
  const pause = async (): Promise<void> => {
    pauses++
  }
  assert.equal(await redactInSlices(value, { hmac }, pause), redact(value, { hmac }))
  assert.equal(pauses, 3)
  const clear = ['batch_input']
  assert.equal(await redactInSlices(value, { hmac, clear }, pause), redact(value, { hmac, clear }))
})

test('where texts are written as they are, a long text of bytes is one of them', () => {
  assert.equal(redact({ a: new LongText(Buffer.from('text')) }, { hmac: undefined }), '{"a":"text"}')
})
