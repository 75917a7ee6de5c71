import assert from 'node:assert/strict'
import { constants, generateKeyPairSync, hash, privateEncrypt, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { publicHalf } from '../forms/public-keys.ts'
import { type SignatureOptions, UnusableInput } from '../key-types/key-type.ts'
import { encodePss, isPssOf, maxSaltBytes } from './emsa-pss.ts'
import { rsaSigning } from './rsa-signing.ts'
import { SIGNATURE_HASHES, signatureHash } from './signature-hashes.ts'

const BYTES = 256
const key = generateKeyPairSync('rsa', { modulusLength: BYTES * 8 }).privateKey
const half = publicHalf(key)
const { sign, verify } = rsaSigning(8 * BYTES)
const MESSAGE = Buffer.from('the quick brown fox')

const PSS: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  padding: 'pss',
  saltLength: 'auto',
  marshaling: 'asn1',
}
const PKCS1: SignatureOptions = { ...PSS, padding: 'pkcs1v15' }

const digestOf = (name: string): Buffer => hash(signatureHash(name).algorithm, MESSAGE, 'buffer')

for (const name of SIGNATURE_HASHES) {
  test(`RSA with ${name}: PSS over message and digest, with every salt length`, () => {
    const digest = digestOf(name)
    const { bytes } = signatureHash(name)
    const most = maxSaltBytes(BYTES, signatureHash(name))
    /** Settings, and the length in bytes of the salt that each signs with. */
    const lengths = [
      ['auto', most],
      ['hash', bytes],
      [0, 0],
      [1, 1],
      [most, most],
    ] as const
    for (const [saltLength, salt] of lengths) {
      const options = { ...PSS, hash: name, saltLength }
      const signatures = [sign(key, MESSAGE, options), sign(key, digest, { ...options, prehashed: true })]
      for (const signature of signatures) {
        for (const [wanted, length] of lengths) {
          const asked = { ...PSS, hash: name, saltLength: wanted }
          const fits = wanted === 'auto' || length === salt
          assert.equal(verify(half, MESSAGE, signature, asked), fits, `${saltLength} ${wanted}`)
          assert.equal(verify(half, digest, signature, { ...asked, prehashed: true }), fits, `${saltLength} ${wanted}`)
        }
      }
    }
  })

  test(`RSA with ${name}: PKCS #1 v1.5 over message and digest is the same signature`, () => {
    const options = { ...PKCS1, hash: name }
    const overDigest = { ...options, prehashed: true }
    const digest = digestOf(name)
    const signature = sign(key, MESSAGE, options)
    assert.deepEqual(sign(key, digest, overDigest), signature)
    assert.equal(verify(half, MESSAGE, signature, options), true)
    assert.equal(verify(half, digest, signature, overDigest), true)
    for (const other of SIGNATURE_HASHES) {
      if (other === name) continue
      assert.equal(verify(half, MESSAGE, signature, { ...options, hash: other }), false)
      assert.equal(verify(half, digest, signature, { ...overDigest, hash: other }), false)
    }
    assert.equal(verify(half, MESSAGE, signature, { ...PSS, hash: name }), false)
    assert.equal(verify(half, digest, signature, { ...PSS, hash: name, prehashed: true }), false)
  })
}

test('RSA: the longest salt of each size with SHA-256, and one more is refused on both sides', () => {
  const sha256 = signatureHash('sha2-256')
  assert.deepEqual(
    [256, 384, 512].map((bytes) => maxSaltBytes(bytes, sha256)),
    [222, 350, 478],
  )
  const signature = sign(key, MESSAGE, PSS)
  for (const saltLength of [223, 10_000, -1, -2, 1.5, Number.NaN]) {
    for (const prehashed of [false, true]) {
      const options = { ...PSS, saltLength, prehashed }
      const input = prehashed ? digestOf('sha2-256') : MESSAGE
      assert.throws(() => sign(key, input, options), UnusableInput)
      assert.throws(() => verify(half, input, signature, options), UnusableInput)
    }
  }
})

test('RSA: a digest of another length is refused by name when signing, and verifies nothing', () => {
  for (const base of [PSS, PKCS1]) {
    const options = { ...base, prehashed: true }
    const signature = sign(key, digestOf('sha2-256'), options)
    for (const bytes of [0, 20, 31, 33, 64, 300]) {
      assert.throws(() => sign(key, Buffer.alloc(bytes), options), /"input": .*32 bytes of sha2-256/)
      assert.equal(verify(half, Buffer.alloc(bytes), signature, options), false)
    }
  }
})

test('RSA without a hash: 0 bytes to the longest are signed as they are, one more is refused', () => {
  const options = { ...PKCS1, hash: 'none', prehashed: true }
  for (const bytes of [0, 1, 36, 51, BYTES - 11]) {
    const input = randomBytes(bytes)
    const signature = sign(key, input, options)
    assert.equal(verify(half, input, signature, options), true)
    assert.equal(verify(half, Buffer.concat([input, Buffer.of(0)]), signature, options), false)
  }
  assert.throws(() => sign(key, Buffer.alloc(BYTES - 10), options), /"input": .*245 bytes/)
  assert.equal(verify(half, Buffer.alloc(BYTES - 10), Buffer.alloc(BYTES), options), false)
  // A DigestInfo that the caller puts before the digest makes the signature that the hash itself would.
  const digest = digestOf('sha2-256')
  const withInfo = Buffer.concat([signatureHash('sha2-256').digestInfo, digest])
  assert.deepEqual(sign(key, withInfo, options), sign(key, digest, { ...PKCS1, prehashed: true }))
  assert.throws(() => sign(key, MESSAGE, { ...PSS, hash: 'none' }), UnusableInput)
  assert.throws(() => verify(half, MESSAGE, Buffer.alloc(BYTES), { ...PSS, hash: 'none' }), UnusableInput)
})

test('RSA: no block but the one of RFC 8017 verifies', () => {
  const digest = digestOf('sha2-256')
  const options = { ...PKCS1, prehashed: true }
  const { digestInfo } = signatureHash('sha2-256')
  const sealed = (encoded: Buffer) => privateEncrypt({ key, padding: constants.RSA_NO_PADDING }, encoded)
  const block = (change: (encoded: Buffer) => void, tail = Buffer.concat([digestInfo, digest])) => {
    const encoded = Buffer.alloc(BYTES, 0xff)
    encoded.set([0x00, 0x01])
    encoded[BYTES - tail.length - 1] = 0x00
    tail.copy(encoded, BYTES - tail.length)
    change(encoded)
    return sealed(encoded)
  }
  assert.equal(
    verify(
      half,
      digest,
      block(() => {}),
      options,
    ),
    true,
  )
  // Other block types, padding that is not ff, and short padding with the hash in front of garbage.
  assert.equal(
    verify(
      half,
      digest,
      block((encoded) => encoded.writeUInt8(0x02, 1)),
      options,
    ),
    false,
  )
  assert.equal(
    verify(
      half,
      digest,
      block((encoded) => encoded.writeUInt8(0xfe, 9)),
      options,
    ),
    false,
  )
  const garbage = Buffer.concat([digestInfo, digest, Buffer.alloc(180)])
  assert.equal(
    verify(
      half,
      digest,
      block(() => {}, garbage),
      options,
    ),
    false,
  )
  const withoutNull = Buffer.concat([
    Buffer.from('302f300b0609608648016503040201 0420'.replace(' ', ''), 'hex'),
    digest,
  ])
  assert.equal(
    verify(
      half,
      digest,
      block(() => {}, withoutNull),
      options,
    ),
    false,
  )
})

test('RSA: a signature that is not below the modulus, or of another length, is none', () => {
  for (const signature of [Buffer.alloc(0), Buffer.alloc(BYTES), Buffer.alloc(BYTES, 0xff), Buffer.alloc(BYTES + 1)]) {
    for (const base of [PSS, PKCS1]) {
      assert.equal(verify(half, MESSAGE, signature, base), false)
      assert.equal(verify(half, digestOf('sha2-256'), signature, { ...base, prehashed: true }), false)
    }
  }
})

test('EMSA-PSS: no encoding with one changed bit is one', () => {
  const sha256 = signatureHash('sha2-256')
  const digest = digestOf('sha2-256')
  for (const saltBytes of [0, 32, maxSaltBytes(BYTES, sha256)]) {
    const encoded = encodePss(digest, randomBytes(saltBytes), BYTES, sha256)
    assert.equal(isPssOf(digest, encoded, undefined, sha256), true)
    assert.equal(isPssOf(digest, encoded, saltBytes, sha256), true)
    assert.equal(isPssOf(digest, encoded, saltBytes + 1, sha256), false)
    for (let bit = 0; bit < BYTES * 8; bit += 7) {
      const changed = Buffer.from(encoded)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      assert.equal(isPssOf(digest, changed, undefined, sha256), false, `bit ${bit}`)
    }
  }
})
