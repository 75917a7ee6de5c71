// What every key type that signs promises, run once for each.
import assert from 'node:assert/strict'
import { hash, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { publicHalf, spkiDer } from '../../src/crypto/forms/public-keys.ts'
import {
  InvalidKeyMaterial,
  type KeyType,
  type PublicPart,
  type SignatureOptions,
  type Signing,
  UnusableInput,
} from '../../src/crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../src/crypto/key-types/key-types.ts'
import { signatureHash } from '../../src/crypto/signatures/signature-hashes.ts'
import { signWith, verifyWith } from '../../src/crypto/signing-jobs.ts'
import { inlineWork } from '../../src/lib/slow-work.ts'
import { realWorld } from '../../src/lib/world.ts'
import { vectorsOf } from '../fixtures/known-material.ts'
import type { SignatureVector } from '../fixtures/vectors.ts'

export type TypeOfPair = KeyType & { readonly signing: Signing; readonly publicPart: PublicPart }

/** `one` and `other` are two keys of the type. */
export type TwoKeys = (which: 'one' | 'other') => Promise<KeyObject>

export const OPTIONS: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  padding: 'pss',
  saltLength: 'auto',
  marshaling: 'asn1',
}

const slow = inlineWork(realWorld())
const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex')

/** Those that take the input as it is, whatever is said of a hash. */
export const hashesItself = ({ name }: KeyType): boolean => vectorsOf(name)?.x509?.hash === null

/** Whether it is one; what is no signature by its form alone is none. */
export function isValid(
  { signing }: TypeOfPair,
  key: KeyObject,
  input: Buffer,
  signature: Buffer,
  options: SignatureOptions,
): boolean {
  try {
    return signing.verify(key, input, signature, options)
  } catch (cause) {
    assert.ok(cause instanceof UnusableInput, `${cause}`)
    return false
  }
}

/** What is verified with `prehashed`. */
export function digestOf(type: KeyType, input: Buffer, options: SignatureOptions): Buffer {
  return hashesItself(type) ? input : hash(signatureHash(options.hash).algorithm, input, 'buffer')
}

export function vectorConformance(type: TypeOfPair, vectors: readonly SignatureVector[]): void {
  for (const vector of vectors) {
    test(`${type.name}: official vector, ${vector.name}`, () => {
      const { options } = vector
      const publicKey = type.publicPart.load(fromHex(vector.publicKey))
      const [input, signature] = [fromHex(vector.input), fromHex(vector.signature)]
      const digest = digestOf(type, input, options)
      const overDigest = { ...options, prehashed: true }
      assert.equal(isValid(type, publicKey, input, signature, options), vector.isInvalid !== true)
      assert.equal(isValid(type, publicKey, digest, signature, overDigest), vector.isInvalid !== true)
      if (vector.key === undefined) return
      const key = type.load(fromHex(vector.key))
      assert.deepEqual(spkiDer(key), fromHex(vector.publicKey))
      assert.equal(type.publicPart.text(key), type.publicPart.text(publicKey))
      if (vector.isOnly === true) assert.deepEqual(type.signing.sign(key, input, options), signature)
    })
  }
}

export function signingConformance(type: TypeOfPair, keyOf: TwoKeys): void {
  const { name, signing, publicPart } = type
  const input = Buffer.from('the quick brown fox')

  test(`${name}: a signature verifies with either half, of its own key and input alone`, async () => {
    const key = await keyOf('one')
    const other = await keyOf('other')
    for (const bytes of [0, 1, 31, 32, 33, 64, 65, 1024 * 1024]) {
      const message = Buffer.alloc(bytes, 'message ')
      const signature = signing.sign(key, message, OPTIONS)
      assert.equal(signing.verify(key, message, signature, OPTIONS), true)
      assert.equal(signing.verify(publicHalf(key), message, signature, OPTIONS), true)
      assert.equal(signing.verify(other, message, signature, OPTIONS), false)
      assert.equal(signing.verify(key, Buffer.concat([message, Buffer.of(0)]), signature, OPTIONS), false)
    }
  })

  test(`${name}: a public half that is loaded alone verifies, shows the same text and holds nothing more`, async () => {
    const key = await keyOf('one')
    const half = publicPart.load(spkiDer(key))
    assert.equal(half.type, 'public')
    assert.equal(publicPart.text(half), publicPart.text(key))
    assert.equal(signing.verify(half, input, signing.sign(key, input, OPTIONS), OPTIONS), true)
    assert.throws(() => signing.sign(half, input, OPTIONS))
  })

  test(`${name}: the public half of another type is refused, and so is what is none`, async () => {
    for (const { publicPart: part, signing: signs, generatesSlowly, ...other } of KEY_TYPES.values()) {
      if (part === undefined || signs === undefined || generatesSlowly === true || other.name === name) continue
      const material = await other.generate(realWorld().random.bytes, slow)
      assert.throws(() => publicPart.load(spkiDer(other.load(material))), InvalidKeyMaterial, other.name)
      assert.throws(() => type.load(material), InvalidKeyMaterial, other.name)
    }
    for (const bytes of [0, 1, 44, 91, 500]) {
      assert.throws(() => publicPart.load(Buffer.alloc(bytes, 0x30)), InvalidKeyMaterial)
    }
  })

  test(`C-05 X-06 ${name}: no truncation, no changed bit and no bytes of any length are a signature`, async () => {
    const key = publicHalf(await keyOf('one'))
    const signature = signing.sign(await keyOf('one'), input, OPTIONS)
    for (let bytes = 0; bytes <= 80; bytes += 1) {
      assert.equal(isValid(type, key, input, Buffer.alloc(bytes, bytes), OPTIONS), false)
    }
    const step = Math.ceil(signature.length / 100)
    for (let at = 0; at < signature.length; at += step) {
      assert.equal(isValid(type, key, input, signature.subarray(0, at), OPTIONS), false)
      const changed = Buffer.from(signature)
      changed[at] = (changed[at] ?? 0) ^ (1 << (at & 7))
      assert.equal(isValid(type, key, input, changed, OPTIONS), false, `byte ${at}`)
    }
    assert.equal(isValid(type, key, input, Buffer.concat([signature, Buffer.of(0)]), OPTIONS), false)
    assert.equal(isValid(type, key, input, signature, OPTIONS), true)
  })

  test(`${name}: signed over the digest is signed over the message, both ways`, async () => {
    const key = await keyOf('one')
    const options = OPTIONS
    const overDigest = { ...options, prehashed: true }
    const digest = digestOf(type, input, options)
    assert.equal(signing.verify(key, digest, signing.sign(key, input, options), overDigest), true)
    assert.equal(signing.verify(key, input, signing.sign(key, digest, overDigest), options), true)
    if (hashesItself(type)) return
    // The trap: a digest that is hashed once more.
    assert.equal(signing.verify(key, digest, signing.sign(key, digest, overDigest), options), false)
  })

  test(`${name}: what the pool signs and verifies is the same, and so is what it refuses`, async () => {
    const key = await keyOf('one')
    for (const prehashed of [false, true]) {
      const options = { ...OPTIONS, prehashed }
      const what = prehashed ? digestOf(type, input, options) : input
      const signature = await signWith(type, slow, key, what, options)
      assert.equal(signing.verify(key, what, signature, options), true)
      assert.equal(await verifyWith(type, slow, key, what, signature, options), true)
      assert.equal(await verifyWith(type, slow, key, Buffer.alloc(what.length, 'else'), signature, options), false)
    }
    if (hashesItself(type)) return
    const unknown = { ...OPTIONS, hash: 'sha2-255' }
    await assert.rejects(async () => signWith(type, slow, key, input, unknown), UnusableInput)
    await assert.rejects(async () => verifyWith(type, slow, key, input, Buffer.alloc(64), unknown), UnusableInput)
  })
}
