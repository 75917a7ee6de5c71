import assert from 'node:assert/strict'
import { createSecretKey, Decipheriv } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../../test/fixtures/seed.ts'
import { AEADS, AuthenticationFailed, open, openWithNonce, seal, sealWithNonce } from './aead.ts'

const LONG_NONCE = Buffer.from('101112131415161718191a1b1c1d1e1f2021222324252627', 'hex')
/** A nonce for algorithms that take 12 bytes. */
const NONCE = LONG_NONCE.subarray(0, 12)

for (const algorithm of Object.values(AEADS)) {
  const { name } = algorithm
  const nonce = LONG_NONCE.subarray(0, algorithm.nonceBytes)
  const key = createSecretKey(Buffer.alloc(algorithm.keyBytes, 7))

  test(`${name}: seal gives ciphertext and tag, sealWithNonce the same behind the nonce`, () => {
    const plaintext = Buffer.from('the quick brown fox')
    const sealed = seal(algorithm, key, nonce, plaintext, Buffer.from('associated'))
    assert.equal(sealed.length, plaintext.length + 16)
    const whole = sealWithNonce(algorithm, key, nonce, plaintext, Buffer.from('associated'))
    assert.deepEqual(whole, Buffer.concat([nonce, sealed]))
    assert.deepEqual(openWithNonce(algorithm, key, whole, Buffer.from('associated')), plaintext)
  })

  test(`${name}: absent and empty associated data are the same`, () => {
    const sealed = seal(algorithm, key, nonce, Buffer.from('x'))
    assert.deepEqual(seal(algorithm, key, nonce, Buffer.from('x'), Buffer.alloc(0)), sealed)
    assert.deepEqual(open(algorithm, key, nonce, sealed, Buffer.alloc(0)), Buffer.from('x'))
  })

  test(`N-03 ${name}: seal refuses every nonce of another length, open does not open with one`, () => {
    const sealed = seal(algorithm, key, nonce, Buffer.from('x'))
    for (let nonceBytes = 0; nonceBytes <= 32; nonceBytes += 1) {
      if (nonceBytes === algorithm.nonceBytes) continue
      assert.throws(() => seal(algorithm, key, Buffer.alloc(nonceBytes, 1), Buffer.from('x')), RangeError)
      assert.throws(() => sealWithNonce(algorithm, key, Buffer.alloc(nonceBytes, 1), Buffer.from('x')), RangeError)
      assert.throws(() => open(algorithm, key, Buffer.alloc(nonceBytes, 1), sealed), AuthenticationFailed)
    }
  })

  test(`N-01 ${name}: no shorter tag opens, of a message or of nothing`, () => {
    for (const plaintext of [Buffer.from('the quick brown fox'), Buffer.alloc(0)]) {
      const sealed = seal(algorithm, key, nonce, plaintext)
      for (let kept = 0; kept < sealed.length; kept += 1) {
        assert.throws(() => open(algorithm, key, nonce, sealed.subarray(0, kept)), AuthenticationFailed)
      }
    }
  })

  test(`${name}: a key of the wrong length is refused`, () => {
    const wrong = createSecretKey(Buffer.alloc(algorithm.keyBytes + 8, 7))
    assert.throws(() => seal(algorithm, wrong, nonce, Buffer.from('x')), RangeError)
  })

  test(`${name}: what was sealed opens, for random lengths and associated data`, (t) => {
    const bytes = fc.uint8Array({ maxLength: 300 }).map((value) => Buffer.from(value))
    fc.assert(
      fc.property(bytes, bytes, (plaintext, associatedData) => {
        const sealed = sealWithNonce(algorithm, key, nonce, plaintext, associatedData)
        assert.deepEqual(openWithNonce(algorithm, key, sealed, associatedData), plaintext)
      }),
      { seed: testSeed(t), numRuns: 200 },
    )
  })
}

test('C-11 everything that does not open has one error and one message', () => {
  const key = createSecretKey(Buffer.alloc(32, 7))
  const algorithm = AEADS.aes256Gcm
  const sealed = sealWithNonce(algorithm, key, NONCE, Buffer.from('secret'), Buffer.from('bound'))
  const flipped = Buffer.from(sealed)
  flipped.writeUInt8(flipped.readUInt8(14) ^ 1, 14)
  const attempts = [
    () => openWithNonce(algorithm, createSecretKey(Buffer.alloc(32, 8)), sealed, Buffer.from('bound')),
    () => openWithNonce(algorithm, key, sealed, Buffer.from('other')),
    () => openWithNonce(algorithm, key, flipped, Buffer.from('bound')),
    () => openWithNonce(algorithm, key, sealed.subarray(0, 27), Buffer.from('bound')),
    () => openWithNonce(algorithm, key, Buffer.alloc(0), Buffer.from('bound')),
    () => openWithNonce(AEADS.chacha20Poly1305, key, sealed, Buffer.from('bound')),
  ]
  for (const attempt of attempts) {
    assert.throws(attempt, { name: 'AuthenticationFailed', message: 'message authentication failed' })
  }
})

test('N-02 what was decrypted before authentication failed is wiped', (t) => {
  const key = createSecretKey(Buffer.alloc(32, 7))
  const plaintext = Buffer.from('the quick brown fox')
  const sealed = seal(AEADS.aes256Gcm, key, NONCE, plaintext, Buffer.from('bound'))
  const decrypted: Buffer[] = []
  const update = Decipheriv.prototype.update
  t.mock.method(Decipheriv.prototype, 'update', function (this: Decipheriv, data: Buffer) {
    const output = Reflect.apply(update, this, [data])
    decrypted.push(output, Buffer.from(output))
    return output
  })
  assert.throws(() => open(AEADS.aes256Gcm, key, NONCE, sealed, Buffer.from('other')), AuthenticationFailed)
  const [output, before] = decrypted
  assert.deepEqual(before, plaintext)
  assert.deepEqual(output, Buffer.alloc(plaintext.length))
})
