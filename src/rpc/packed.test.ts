import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fail, failFor, Refusal, RefusalForNow } from '../api/errors.ts'
import { PackedError, packed, unpacked } from './packed.ts'
import { packedAnswer, unpackedAnswer } from './packed-answer.ts'

/** A packed value of this text. */
function ofText(text: string, bytes = ''): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(text))
  return Buffer.concat([length, Buffer.from(text), Buffer.from(bytes)])
}

const NAME = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '$bytes', '$undefined', '$', '$$a', ''))
const VALUE = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, undefined, true, false),
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((drawn) => drawn + 0),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.array(tie('any')),
    fc.array(fc.tuple(NAME, tie('any'))).map((members) => Object.fromEntries(members)),
  ),
})).any

test('what is packed is unpacked as the same, with bytes, undefined and any names', () => {
  fc.assert(
    fc.property(VALUE, (value) => {
      assert.deepStrictEqual(unpacked(packed(value)), value)
    }),
    { numRuns: 1_000 },
  )
})

test('a member that is undefined stays one, and bytes are views of what came', () => {
  const input = packed({ body: Buffer.from('body'), query: undefined, list: [undefined, new Uint8Array(0)] })
  const read = unpacked(input) as { body: Buffer; query: undefined; list: unknown[] }
  assert.deepStrictEqual(read, { body: Buffer.from('body'), query: undefined, list: [undefined, Buffer.alloc(0)] })
  assert.equal(read.body.buffer, input.buffer)
  assert.ok(Object.hasOwn(read, 'query'))
})

test('a name of all objects is a member like any other', () => {
  const read = unpacked(packed(JSON.parse('{"__proto__": {"isAdmin": true}}'))) as Record<string, unknown>
  assert.equal(Object.getPrototypeOf(read), Object.prototype)
  assert.equal(read.isAdmin, undefined)
  assert.deepStrictEqual(Object.keys(read), ['__proto__'])
})

const UNPACKABLE = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1n,
  () => {},
  Symbol('s'),
  new Date(0),
  new Map(),
  new Error('e'),
  new ReadableStream(),
]
test('nothing but plain data is packed', () => {
  for (const value of UNPACKABLE) assert.throws(() => packed({ value }), TypeError)
  let deep: unknown = 1
  for (let level = 0; level < 129; level++) deep = [deep]
  assert.throws(() => packed(deep), TypeError)
  assert.doesNotThrow(() => unpacked(packed((deep as unknown[])[0])))
})

const DAMAGED: readonly (readonly [string, Buffer])[] = [
  ['without a length', Buffer.alloc(3)],
  ['shorter than its text', ofText('{}').subarray(0, 5)],
  ['text that is no JSON', ofText('{')],
  ['text that is no UTF-8', Buffer.from([0, 0, 0, 3, 0x22, 0xff, 0x22])],
  ['nested too deep', ofText(`${'['.repeat(130)}${']'.repeat(130)}`)],
  ['too many members', ofText(`[${'1,'.repeat(2_000_001)}1]`)],
  ['bytes that are not there', ofText('{"$bytes":2}', 'a')],
  ['bytes that nothing stands for', ofText('{"$bytes":1}', 'ab')],
  ['a negative number of bytes', ofText('{"$bytes":-1}')],
  ['a fraction of bytes', ofText('{"$bytes":0.5}', 'a')],
  ['bytes that are something else too', ofText('{"$bytes":1,"a":2}', 'a')],
  ['an unknown mark', ofText('{"$date":1}')],
  ['an undefined that is none', ofText('{"$undefined":false}')],
]
for (const [name, input] of DAMAGED) {
  test(`refused as damaged: ${name}`, () => {
    assert.throws(() => unpacked(input), PackedError)
  })
}

const noFault = (cause: unknown): void => assert.fail(String(cause))

test('an answer comes as it was given, also undefined', async () => {
  const answer = await packedAnswer(async () => ({ data: { n: 1 } }), noFault)
  assert.deepStrictEqual(unpackedAnswer('ask', answer), { data: { n: 1 } })
  assert.equal(unpackedAnswer('ask', await packedAnswer(async () => undefined, noFault)), undefined)
})

test('a refusal is thrown as it was, with its hint and the time to come again', async () => {
  const thrown = new Refusal('permission_denied', 403, 'Permission denied', undefined, 'It lacks update')
  for (const refusal of [thrown, fail('sealed', []), failFor(7, 'rate_limited', ['a'])]) {
    const sent = await packedAnswer(() => Promise.reject(refusal), noFault)
    assert.throws(
      () => unpackedAnswer('ask', sent),
      (cause) => {
        assert.ok(cause instanceof Refusal)
        const { code, status, message, hint } = refusal
        assert.deepEqual(
          [cause.code, cause.status, cause.message, cause.hint, cause instanceof RefusalForNow],
          [code, status, message, hint, refusal instanceof RefusalForNow],
        )
        return true
      },
    )
  }
})

test('of a defect, and of what cannot be packed, only the name is sent', async () => {
  const faults: unknown[] = []
  const onFault = (cause: unknown) => void faults.push(cause)
  const defect = await packedAnswer(() => Promise.reject(new RangeError('a secret')), onFault)
  assert.ok(!defect.includes('secret'))
  assert.throws(() => unpackedAnswer('ask', defect), { name: 'CallFailed, for RangeError' })
  const stream = await packedAnswer(async () => new ReadableStream(), onFault)
  assert.throws(() => unpackedAnswer('ask', stream), { name: 'CallFailed, for TypeError' })
  assert.equal(faults.length, 2)
})

const REFUSAL = { code: 'sealed', status: 503, message: 'm', hint: '', retryAfterSeconds: undefined }
const NO_ANSWERS: readonly unknown[] = [
  null,
  1,
  'answer',
  {},
  { refusal: null },
  { failure: 1 },
  { refusal: { ...REFUSAL, status: 200 } },
  { refusal: { ...REFUSAL, code: 'constructor' } },
  { refusal: { ...REFUSAL, code: '__proto__' } },
  { refusal: { ...REFUSAL, message: 'm'.repeat(16_385) } },
  { refusal: { ...REFUSAL, retryAfterSeconds: 'soon' } },
]
test('what is neither an answer nor a refusal is refused, and a code of another version is not', () => {
  for (const sent of NO_ANSWERS) assert.throws(() => unpackedAnswer('ask', packed(sent)), PackedError)
  const newer = packed({ refusal: { ...REFUSAL, code: 'of_later', more: 1 } })
  assert.throws(() => unpackedAnswer('ask', newer), { name: 'Refusal', code: 'of_later', status: 503, message: 'm' })
})
