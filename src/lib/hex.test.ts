import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeHex, encodeHex, HexError } from './hex.ts'

test('hex decodes both cases and encodes in lower case', () => {
  assert.deepEqual(decodeHex('00fFAa7e'), Buffer.from([0, 255, 170, 126]))
  assert.equal(encodeHex(Buffer.from([0, 255, 170, 126])), '00ffaa7e')
  assert.deepEqual(decodeHex(''), Buffer.alloc(0))
})

const WRONG: readonly { readonly text: string; readonly offset: number }[] = [
  { text: '0', offset: 1 },
  { text: '0g', offset: 1 },
  { text: 'zz00', offset: 0 },
  { text: '00 11', offset: 2 },
  { text: '0x11', offset: 1 },
  { text: '00\n', offset: 2 },
  { text: 'aabbc', offset: 5 },
]

for (const { text, offset } of WRONG) {
  test(`hex refuses ${JSON.stringify(text)} at ${offset}`, () => {
    assert.throws(
      () => decodeHex(text),
      (error) => error instanceof HexError && error.offset === offset && error.message.endsWith(`byte ${offset}`),
    )
  })
}

test('N-04 hex: of all 65,536 characters only the 22 digits pass', () => {
  let passed = ''
  for (let code = 0; code <= 0xffff; code += 1) {
    const text = `0${String.fromCharCode(code)}`
    try {
      decodeHex(text)
      passed += text[1]
    } catch (error) {
      assert.ok(error instanceof HexError && error.offset === 1, `code ${code}`)
    }
  }
  assert.equal(passed, '0123456789ABCDEFabcdef')
})
