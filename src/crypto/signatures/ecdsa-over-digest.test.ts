import assert from 'node:assert/strict'
import { constants, generateKeyPairSync, hash, type KeyObject, randomBytes, sign, verify } from 'node:crypto'
import { test } from 'node:test'
import { type Curve, P256, P384, P521, SECP256K1, scalarBytes } from '../forms/ec-curves.ts'
import { publicHalf } from '../forms/public-keys.ts'
import { signDigest, verifyDigest } from './ecdsa-over-digest.ts'

const CURVES: readonly Curve[] = [P256, P384, P521, SECP256K1]
const newKey = ({ name }: Curve): KeyObject => generateKeyPairSync('ec', { namedCurve: name }).privateKey

// If one of these fails, the runtime has learnt to take a digest: docs/decisions/0008-curves-and-ciphers.md.
test('the runtime hashes a digest once more, without a word', () => {
  const digest = hash('sha256', 'message', 'buffer')
  const ec = newKey(P256)
  assert.equal(verify('sha256', digest, ec, sign(null, digest, ec)), true)
  assert.equal(verify('sha256', Buffer.from('message'), ec, sign(null, digest, ec)), false)
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const pss = { key: rsa, padding: constants.RSA_PKCS1_PSS_PADDING }
  assert.equal(verify('sha256', Buffer.from('message'), pss, sign(null, digest, pss)), false)
})

for (const curve of CURVES) {
  const { name } = curve
  test(`${name}: a digest of any length is signed, of a longer one only the first bits count`, () => {
    const key = newKey(curve)
    const half = publicHalf(key)
    const whole = scalarBytes(curve)
    for (const bytes of [0, 1, 20, 28, 32, 48, 64, whole, whole + 1, 10_000]) {
      const digest = randomBytes(bytes)
      const both = signDigest(curve, key, digest)
      assert.equal(both.length, 2 * whole)
      assert.equal(verifyDigest(curve, half, digest, both), true)
      if (bytes === 0) continue
      const changed = Buffer.from(digest)
      changed[0] = (changed[0] ?? 0) ^ 1
      assert.equal(verifyDigest(curve, half, changed, both), false)
      const longer = Buffer.concat([digest, Buffer.of(1)])
      assert.equal(verifyDigest(curve, half, longer, both), bytes >= whole)
    }
  })

  test(`${name}: what the runtime signs verifies over the digest, and the reverse, with every hash`, () => {
    const key = newKey(curve)
    const message = randomBytes(100)
    const asBoth = { key, dsaEncoding: 'ieee-p1363' } as const
    for (const algorithm of ['sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha3-256', 'sha3-512']) {
      const digest = hash(algorithm, message, 'buffer')
      assert.equal(verifyDigest(curve, key, digest, sign(algorithm, message, asBoth)), true)
      assert.equal(verify(algorithm, message, asBoth, signDigest(curve, key, digest)), true)
    }
  })

  test(`${name}: digests at the edges of the order are signed like others, also those that are zero modulo it`, () => {
    const key = newKey(curve)
    const whole = scalarBytes(curve)
    const near = Buffer.from(curve.order)
    near[whole - 1] = (near[whole - 1] ?? 0) - 1
    // The bits of P-521 that are over are cut from the end.
    const shift = (bytes: Buffer): Buffer =>
      curve === P521
        ? Buffer.from((BigInt(`0x${bytes.toString('hex')}`) << 7n).toString(16).padStart(132, '0'), 'hex')
        : bytes
    const digests = [Buffer.alloc(0), Buffer.alloc(20), Buffer.alloc(whole), shift(curve.order), shift(near)]
    for (const digest of [...digests, Buffer.alloc(whole, 0xff), Buffer.of(1)]) {
      const both = signDigest(curve, key, digest)
      assert.equal(verifyDigest(curve, key, digest, both), true)
      assert.notDeepEqual(signDigest(curve, key, digest), both, 'each signature has a nonce of its own')
      assert.equal(verifyDigest(curve, newKey(curve), digest, both), false)
    }
  })

  test(`${name}: r and s that are zero or not below the order are no signature`, () => {
    const key = newKey(curve)
    const digest = randomBytes(32)
    const both = signDigest(curve, key, digest)
    const bytes = scalarBytes(curve)
    for (const at of [0, bytes]) {
      for (const number of [Buffer.alloc(bytes), curve.order, Buffer.alloc(bytes, 0xff)]) {
        const changed = Buffer.from(both)
        number.copy(changed, at)
        assert.equal(verifyDigest(curve, key, digest, changed), false)
      }
    }
  })
}
