import assert from 'node:assert/strict'
import { createSecretKey, hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../../test/fixtures/seed.ts'
import {
  convergentNonce,
  deriveConvergentKeys,
  deriveConvergentKeysV2,
  deriveKey,
  hkdfExpand,
  hkdfExtract,
  hkdfSha256,
} from './derivation.ts'

const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex')

/** RFC 5869 appendix A, the cases with SHA-256. */
const RFC_5869 = [
  {
    name: 'appendix A.1, basic',
    material: '0b'.repeat(22),
    salt: '000102030405060708090a0b0c',
    info: 'f0f1f2f3f4f5f6f7f8f9',
    extracted: '077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5',
    output: '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865',
  },
  {
    name: 'appendix A.2, long inputs and output',
    material: Buffer.from(Array.from({ length: 80 }, (_, at) => at)).toString('hex'),
    salt: Buffer.from(Array.from({ length: 80 }, (_, at) => 0x60 + at)).toString('hex'),
    info: Buffer.from(Array.from({ length: 80 }, (_, at) => 0xb0 + at)).toString('hex'),
    extracted: '06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244',
    output:
      'b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09' +
      'da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87',
  },
  {
    name: 'appendix A.3, no salt and no info',
    material: '0b'.repeat(22),
    salt: '',
    info: '',
    extracted: '19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04',
    output: '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8',
  },
]

for (const { name, material, salt, info, extracted, output } of RFC_5869) {
  test(`RFC 5869 ${name}`, () => {
    const extract = hkdfExtract(createSecretKey(fromHex(material)), createSecretKey(fromHex(salt)))
    assert.equal(extract.export().toString('hex'), extracted)
    assert.equal(hkdfExpand(extract, fromHex(info), output.length / 2).toString('hex'), output)
  })
}

test('RFC 5869 appendix A.3 through the form without salt, twice for one key', () => {
  const key = createSecretKey(Buffer.alloc(22, 0x0b))
  for (let time = 0; time < 2; time += 1) {
    assert.equal(hkdfSha256(key, Buffer.alloc(0), 42).toString('hex'), RFC_5869[2]?.output)
  }
})

test('HKDF agrees with the one of node:crypto, for contexts as long as that one takes', (t) => {
  const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((value) => Buffer.from(value))
  fc.assert(
    fc.property(bytes(80), bytes(1024), fc.integer({ min: 1, max: 200 }), (material, info, length) => {
      const key = createSecretKey(material)
      const expected = Buffer.from(hkdfSync('sha256', key, '', info, length))
      assert.deepEqual(hkdfSha256(key, info, length), expected)
    }),
    { seed: testSeed(t), numRuns: 300 },
  )
})

test('HKDF takes contexts above 1,024 bytes, and gives 1 to 8,160 bytes', () => {
  const key = createSecretKey(Buffer.alloc(32, 1))
  const long = Buffer.alloc(100_000, 2)
  assert.deepEqual(hkdfSha256(key, long, 64).subarray(0, 32), hkdfSha256(key, long, 32))
  assert.equal(hkdfSha256(key, long, 8160).length, 8160)
  assert.throws(() => hkdfSha256(key, long, 8161), RangeError)
  assert.throws(() => hkdfSha256(key, long, 0), RangeError)
})

test('convergent keys open what was sealed with the key of the same context', () => {
  const key = createSecretKey(Buffer.alloc(32, 1))
  const context = Buffer.from('my-cool-context')
  for (const keyBytes of [16, 32]) {
    const derived = deriveKey(key, context, keyBytes)
    assert.ok(deriveConvergentKeys(key, context, keyBytes).encryptionKey.equals(derived))
    assert.ok(deriveConvergentKeysV2(key, context, keyBytes).encryptionKey.equals(derived))
  }
})

test('C-02 convergent version 3 gives one plaintext another nonce under another context', () => {
  const key = createSecretKey(Buffer.alloc(32, 1))
  const nonces = new Set<string>()
  for (let count = 0; count < 1000; count += 1) {
    const { nonceKey } = deriveConvergentKeys(key, Buffer.from(`context ${count}`), 32)
    nonces.add(convergentNonce(nonceKey, Buffer.from('the same'), 12).toString('hex'))
  }
  assert.equal(nonces.size, 1000)
})
