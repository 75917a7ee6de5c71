// ECDSA with a device takes what ECDSA with a key that is here takes, and both verify alike.
import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { type Curve, P256, P384, P521, scalarBytes } from '../forms/ec-curves.ts'
import { ecdsaP256, ecdsaP384, ecdsaP521 } from '../key-types/ecdsa-key-types.ts'
import { type KeyType, type SignatureOptions, UnusableInput } from '../key-types/key-type.ts'
import { signDigest } from '../signatures/ecdsa-over-digest.ts'
import { signWithDevice } from './device-signing.ts'

const CURVES: readonly (readonly [KeyType, Curve, number])[] = [
  [ecdsaP256, P256, 256],
  [ecdsaP384, P384, 384],
  [ecdsaP521, P521, 521],
]

for (const [{ signing }, curve, bits] of CURVES) {
  test(`${curve.name}: a prehashed input of any length from 16 bytes is signed, where no hash is named`, async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: curve.opensslName })
    const asked: number[] = []
    const device = {
      signBlock: async (block: Buffer) => {
        asked.push(block.length)
        return signDigest(curve, privateKey, block)
      },
      signPss: () => assert.fail('ECDSA has no padding'),
    }
    const half = createPublicKey(privateKey)
    assert.ok(signing)
    for (const bytes of [16, 31, 32, 47, 65, 66, 67, 200])
      for (const hash of ['none', 'sha2-256']) {
        const marshaling = hash === 'none' ? 'asn1' : 'jws'
        const input = Buffer.alloc(bytes, 0xa5)
        const options: SignatureOptions = { hash, prehashed: true, padding: 'pss', saltLength: 'hash', marshaling }
        const signature = await signWithDevice(device, { scheme: 'ecdsa', bits }, input, options)
        assert.equal(signing.verify(half, input, signature, options), true, `${bytes} ${hash}`)
        const here = signing.sign(privateKey, input, options)
        assert.equal(signing.verify(half, input, here, options), true, `${bytes} ${hash} here`)
      }
    assert.ok(Math.min(...asked) === 16 && Math.max(...asked) === scalarBytes(curve))
    for (const [hash, bytes, isHashNamed] of [
      ['none', 0],
      ['none', 15],
      ['sha2-256', 5],
      ['sha2-256', 31, true],
      ['sha2-512', 32, true],
    ] as const) {
      const options: SignatureOptions = { hash, prehashed: true, padding: 'pss', saltLength: 'hash', marshaling: 'jws' }
      const asked = isHashNamed === true ? { ...options, isHashNamed } : options
      const input = Buffer.alloc(bytes, 0xa5)
      await assert.rejects(signWithDevice(device, { scheme: 'ecdsa', bits }, input, asked), UnusableInput)
      assert.throws(() => signing.sign(privateKey, input, asked), UnusableInput)
      assert.throws(() => signing.verify(half, input, Buffer.alloc(2 * scalarBytes(curve), 1), asked), UnusableInput)
    }
    const message: SignatureOptions = {
      hash: 'none',
      prehashed: false,
      padding: 'pss',
      saltLength: 'hash',
      marshaling: 'asn1',
    }
    await assert.rejects(signWithDevice(device, { scheme: 'ecdsa', bits }, Buffer.from('x'), message), UnusableInput)
  })
}
