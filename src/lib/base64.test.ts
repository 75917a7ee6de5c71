import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../test/fixtures/seed.ts'
import { Base64Error, decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from './base64.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

type Outcome = { readonly hex: string } | { readonly offset: number }

function outcomeOf(decode: (text: string) => Buffer, text: string): Outcome {
  try {
    return { hex: decode(text).toString('hex') }
  } catch (error) {
    assert.ok(error instanceof Base64Error)
    assert.equal(error.message, `illegal base64 data at input byte ${error.offset}`)
    return { offset: error.offset }
  }
}

const STANDARD: readonly { readonly text: string; readonly outcome: Outcome }[] = [
  { text: 'foobar', outcome: { offset: 4 } },
  { text: 'simple_plaintext', outcome: { offset: 6 } },
  { text: ':;.?', outcome: { offset: 0 } },
  { text: 'not-encoded', outcome: { offset: 3 } },
  { text: 'abc', outcome: { offset: 0 } },
  { text: 'vault', outcome: { offset: 4 } },
  { text: 'ab\ncd', outcome: { hex: '69b71d' } },
  { text: 'YQ=\n=', outcome: { hex: '61' } },
  { text: 'ab=', outcome: { offset: 3 } },
  { text: 'a===', outcome: { offset: 1 } },
  { text: 'abcd=', outcome: { offset: 4 } },
  { text: 'YWJj ', outcome: { offset: 4 } },
  { text: '=', outcome: { offset: 0 } },
  { text: 'YWJjZA', outcome: { offset: 4 } },
  { text: 'YQ==\n', outcome: { hex: '61' } },
  { text: 'adba32==', outcome: { hex: '69d6dadf' } },
  { text: '', outcome: { hex: '' } },
  { text: '\r\n', outcome: { hex: '' } },
  { text: 'YQ==', outcome: { hex: '61' } },
  { text: 'YR==', outcome: { hex: '61' } },
  { text: 'YWI=', outcome: { hex: '6162' } },
  { text: 'YWJ=', outcome: { hex: '6162' } },
  { text: '+/+/', outcome: { hex: 'fbffbf' } },
  { text: '-_-_', outcome: { offset: 0 } },
  { text: '+/+_', outcome: { offset: 3 } },
  { text: 'YQ==YQ==', outcome: { offset: 4 } },
  { text: 'YQ===', outcome: { offset: 4 } },
  { text: 'YQ==\r\n\r\nx', outcome: { offset: 8 } },
  { text: 'YWI=\n=', outcome: { offset: 5 } },
  { text: 'YQ=x', outcome: { offset: 2 } },
  { text: 'YQ=\n', outcome: { offset: 4 } },
  { text: '====', outcome: { offset: 0 } },
  { text: '=b==', outcome: { offset: 0 } },
  { text: 'YWJj\nYW\nJ', outcome: { offset: 5 } },
  { text: '\n\nYWJj', outcome: { hex: '616263' } },
  { text: 'YW\tJj', outcome: { offset: 2 } },
  { text: 'YW\u0000Jj', outcome: { offset: 2 } },
  { text: 'YWJ\u00e9', outcome: { offset: 3 } },
]

for (const { text, outcome } of STANDARD) {
  test(`base64 ${JSON.stringify(text)} gives ${JSON.stringify(outcome)}`, () => {
    assert.deepEqual(outcomeOf(decodeBase64, text), outcome)
  })
}

const URL_SAFE: readonly { readonly text: string; readonly outcome: Outcome }[] = [
  { text: '', outcome: { hex: '' } },
  { text: 'YQ', outcome: { hex: '61' } },
  { text: 'YR', outcome: { hex: '61' } },
  { text: 'YWI', outcome: { hex: '6162' } },
  { text: '-_-_', outcome: { hex: 'fbffbf' } },
  { text: 'Y\r\nQ\n', outcome: { hex: '61' } },
  { text: '+/+/', outcome: { offset: 0 } },
  { text: '-_-/', outcome: { offset: 3 } },
  { text: 'YQ==', outcome: { offset: 2 } },
  { text: 'YWI=', outcome: { offset: 3 } },
  { text: 'YWJj=', outcome: { offset: 4 } },
  { text: 'a', outcome: { offset: 0 } },
  { text: 'YWJja', outcome: { offset: 4 } },
  { text: 'YW Jj', outcome: { offset: 2 } },
]

for (const { text, outcome } of URL_SAFE) {
  test(`base64url ${JSON.stringify(text)} gives ${JSON.stringify(outcome)}`, () => {
    assert.deepEqual(outcomeOf(decodeBase64Url, text), outcome)
  })
}

test('N-04 base64: of all 65,536 characters only the alphabet and line breaks pass', () => {
  for (const [decode, digits] of [
    [decodeBase64, `${LETTERS}+/`],
    [decodeBase64Url, `${LETTERS}-_`],
  ] as const) {
    for (let code = 0; code <= 0xffff; code += 1) {
      const character = String.fromCharCode(code)
      const outcome = outcomeOf(decode, `YWJj${character}WJj`)
      if (digits.includes(character)) assert.equal('hex' in outcome && outcome.hex.length, 12, `code ${code}`)
      // A line break leaves three digits in the last group: too few with padding, enough without.
      else if (character !== '\n' && character !== '\r') assert.deepEqual(outcome, { offset: 4 }, `code ${code}`)
    }
  }
})

/** The rules once more, on a list of the characters that count. */
function reference(text: string): Outcome {
  const marks = [...text].map((mark, at) => ({ mark, at })).filter(({ mark }) => mark !== '\n' && mark !== '\r')
  const firstOther = marks.findIndex(({ mark }) => !`${LETTERS}+/`.includes(mark))
  const digits = firstOther === -1 ? marks : marks.slice(0, firstOther)
  const rest = marks.slice(digits.length)
  const over = digits.length % 4
  const [bad] = rest
  if (bad === undefined) {
    const open = digits[digits.length - over]
    return open === undefined ? decoded(digits) : { offset: open.at }
  }
  if (bad.mark !== '=' || over < 2) return { offset: bad.at }
  const needed = 4 - over
  if (needed === 2 && rest.length === 1) return { offset: text.length }
  if (needed === 2 && rest[1]?.mark !== '=') return { offset: bad.at }
  const surplus = rest[needed]
  return surplus === undefined ? decoded(digits) : { offset: surplus.at }
}

function decoded(digits: readonly { readonly mark: string }[]): Outcome {
  const bits = digits.map(({ mark }) => `${LETTERS}+/`.indexOf(mark).toString(2).padStart(6, '0')).join('')
  const bytes = bits.match(/.{8}/g) ?? []
  return { hex: bytes.map((byte) => Number.parseInt(byte, 2).toString(16).padStart(2, '0')).join('') }
}

test('base64 agrees with the rules written a second time, for texts near the border of validity', (t) => {
  const mark = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom('Y', 'Q', 'b', '9', '+', '/') },
    { weight: 3, arbitrary: fc.constantFrom('=', '\n', '\r') },
    { weight: 1, arbitrary: fc.constantFrom('-', '_', ' ', '\u0159', '\u0000') },
  )
  const text = fc.array(mark, { maxLength: 14 }).map((marks) => marks.join(''))
  fc.assert(
    fc.property(text, (value) => assert.deepEqual(outcomeOf(decodeBase64, value), reference(value))),
    { seed: testSeed(t), numRuns: 20_000 },
  )
})

test('base64 and base64url decode what they encode, also with line breaks anywhere', (t) => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((value) => Buffer.from(value))
  fc.assert(
    fc.property(bytes, fc.nat(400), (value, at) => {
      const padded = encodeBase64(value)
      assert.deepEqual(decodeBase64(padded), value)
      assert.deepEqual(decodeBase64(`${padded.slice(0, at)}\r\n${padded.slice(at)}`), value)
      const unpadded = encodeBase64Url(value)
      assert.deepEqual(decodeBase64Url(unpadded), value)
      assert.deepEqual(decodeBase64Url(`${unpadded.slice(0, at)}\n${unpadded.slice(at)}`), value)
    }),
    { seed: testSeed(t), numRuns: 500 },
  )
})

test('base64 of 24 MiB decodes exactly, and the offset of its one wrong character is found', () => {
  const bytes = Buffer.alloc(24 * 1024 * 1024, 'every byte counts ')
  const text = encodeBase64(bytes)
  assert.ok(decodeBase64(text).equals(bytes))
  assert.ok(decodeBase64(`${text.slice(0, 76)}\r\n${text.slice(76)}`).equals(bytes))
  const wrongAt = text.length - 3
  const wrong = `${text.slice(0, wrongAt)}*${text.slice(wrongAt + 1)}`
  assert.deepEqual(outcomeOf(decodeBase64, wrong), { offset: wrongAt })
})
