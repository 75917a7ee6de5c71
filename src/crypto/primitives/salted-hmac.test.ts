import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { SaltedHmac } from './salted-hmac.ts'

const wanted = (key: Buffer, message: string | Buffer): string =>
  createHmac('sha256', key).update(message).digest('hex')

test('RFC 4231: test cases 1 and 2', () => {
  assert.equal(
    new SaltedHmac(Buffer.alloc(20, 0x0b)).hexOf('Hi There'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  )
  assert.equal(
    new SaltedHmac(Buffer.from('Jefe')).hexOf('what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
})

test('texts and bytes of every size around the borders agree with the runtime', () => {
  for (const keyBytes of [0, 1, 32, 63, 64]) {
    const key = randomBytes(keyBytes)
    const hmac = new SaltedHmac(key)
    for (const length of [0, 1, 55, 56, 63, 64, 65, 1000, 2729, 2730, 2731, 2732, 8191, 8192, 8193, 100_000]) {
      for (const text of ['a'.repeat(length), 'ä'.repeat(length), '€'.repeat(length), '\u{1f511}'.repeat(length / 2)]) {
        assert.equal(hmac.hexOf(text), wanted(key, text), `${keyBytes} ${length} ${text.slice(0, 1)}`)
      }
      const bytes = randomBytes(length)
      assert.equal(hmac.hexOfBytes(bytes), wanted(key, bytes), `${keyBytes} ${length} bytes`)
    }
  }
})

test('a long message leaves nothing behind for the next', () => {
  const key = randomBytes(32)
  const hmac = new SaltedHmac(key)
  hmac.hexOf('x'.repeat(2000))
  assert.equal(hmac.hexOf('short'), wanted(key, 'short'))
})

test('the key is its own copy, and is gone after wipe', () => {
  const key = randomBytes(32)
  const copy = Buffer.from(key)
  const hmac = new SaltedHmac(key)
  key.fill(0)
  assert.equal(hmac.hexOf('text'), wanted(copy, 'text'))
  hmac.wipe()
  assert.notEqual(hmac.hexOf('text'), wanted(copy, 'text'))
  assert.equal(hmac.hexOf('y'.repeat(9000)), wanted(Buffer.alloc(32), 'y'.repeat(9000)))
})

test('a key of more than a block is refused', () => {
  assert.throws(() => new SaltedHmac(Buffer.alloc(65)), /more than one block/)
})
