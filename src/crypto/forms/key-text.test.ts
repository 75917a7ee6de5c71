import { strict as assert } from 'node:assert'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { decodeKeyText } from './key-text.ts'

test('raw bytes, hexadecimal and base64 give the same key, with blanks around the texts', () => {
  for (let i = 0; i < 200; i++) {
    const key = i === 0 ? Buffer.alloc(32, 0x20) : i === 1 ? Buffer.alloc(32, 0xff) : randomBytes(32)
    for (const form of [key, ...[key.toString('hex'), key.toString('hex').toUpperCase(), key.toString('base64')]]) {
      assert.deepEqual(decodeKeyText(Buffer.from(form)), key)
      if (typeof form === 'string') assert.deepEqual(decodeKeyText(Buffer.from(` \t${form}\r\n`)), key)
    }
  }
})

const base64 = Buffer.alloc(32, 0xfb).toString('base64')
const refused = [
  '',
  'x'.repeat(31),
  'x'.repeat(33),
  'g'.repeat(64),
  'a'.repeat(63),
  base64.replaceAll('+', '-').replaceAll('/', '_'),
  base64.slice(0, -1),
  `${base64.slice(0, -2)}==`,
  // The last digit holds bits beyond the key.
  `${'A'.repeat(42)}B=`,
]
for (const text of refused) {
  test(`${JSON.stringify(text.slice(0, 12))}, ${text.length} characters, is no key`, () => {
    assert.equal(decodeKeyText(Buffer.from(text)), undefined)
  })
}
