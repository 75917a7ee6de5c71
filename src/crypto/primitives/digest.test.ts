import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hmacSha256, sha256 } from './digest.ts'
import { importSecret } from './secret-key.ts'

test('FIPS 180-4 example: SHA-256 of "abc"', () => {
  const expected = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  assert.equal(sha256(Buffer.from('abc')).toString('hex'), expected)
  assert.equal(sha256(Buffer.from('a'), Buffer.from(''), Buffer.from('bc')).toString('hex'), expected)
})

// RFC 4231 sections 4.2, 4.3 and 4.7.
const cases = [
  { key: '0b'.repeat(20), data: ['Hi There'], mac: 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7' },
  {
    key: Buffer.from('Jefe').toString('hex'),
    data: ['what do ya want ', '', 'for nothing?'],
    mac: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  },
  {
    key: 'aa'.repeat(131),
    data: ['Test Using Larger Than Block-Size Key - Hash Key First'],
    mac: '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  },
]
for (const { key, data, mac } of cases) {
  test(`RFC 4231: HMAC-SHA-256 of "${data.join('')}"`, () => {
    const parts = data.map((part) => Buffer.from(part))
    assert.equal(hmacSha256(importSecret(Buffer.from(key, 'hex')), ...parts).toString('hex'), mac)
  })
}
