// What every key type promises, run once for each row of the table of key types. A type without official vectors
// fails: its own round trips would pass with any arithmetic.
import assert from 'node:assert/strict'
import { type KeyObject, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { type Cipher, type Derivation, InvalidKeyMaterial, type KeyType } from '../../src/crypto/key-types/key-type.ts'
import { AuthenticationFailed } from '../../src/crypto/primitives/aead.ts'
import { RandomnessFailed } from '../../src/crypto/primitives/random-bytes.ts'
import { inlineWork } from '../../src/lib/slow-work.ts'
import { realWorld } from '../../src/lib/world.ts'
import { testSeed } from '../fixtures/seed.ts'
import type { CipherVector, VectorFile } from '../fixtures/vectors.ts'
import { macConformance } from './mac-key-type.ts'
import { signingConformance, vectorConformance } from './signing.ts'

/** The longest message whose every length is tried, and the longest truncation. */
const SHORT_BYTES = 80

const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex')
const slow = inlineWork(realWorld())

// Some kinds of keys take a second each: two of a type, made when they are first needed, serve all its tests.
const materials = new Map<string, Promise<Buffer>>()

/** Stored material: the bytes are a copy. */
async function materialOf(type: KeyType, which: 'one' | 'other' = 'one'): Promise<Buffer> {
  const name = `${type.name} ${which}`
  const made = materials.get(name) ?? Promise.resolve(type.generate((count) => randomBytes(count), slow))
  materials.set(name, made)
  return Buffer.from(await made)
}

async function keyOf(type: KeyType, which: 'one' | 'other' = 'one'): Promise<KeyObject> {
  return type.load(await materialOf(type, which))
}

export function keyTypeConformance(type: KeyType, file: VectorFile | undefined): void {
  test(`${type.name}: has official vectors with origin and licence`, async () => {
    assert.ok(file !== undefined, `test/vectors/${type.name}.json is missing`)
    assert.ok(file.origin !== '' && file.licence !== '')
    if (type.cipher !== undefined) assert.ok(file.vectors.length > 0)
    if (type.signing !== undefined) assert.ok((file.signatures ?? []).length > 0 && file.x509 !== undefined)
    if (type.derivation?.convergent !== undefined) assert.ok(file.convergent !== undefined)
    if (type.cmac !== undefined || type.isHmacKey) assert.ok((file.macs ?? []).length > 0)
  })
  materialConformance(type)
  if (type.cipher !== undefined) cipherConformance(type, type.cipher, file?.vectors ?? [])
  macConformance(type, file?.macs ?? [])
  if (type.cipher !== undefined && type.derivation !== undefined) {
    derivationConformance(type, type.cipher, type.derivation)
  }
  const { signing, publicPart } = type
  if (signing === undefined) return
  assert.ok(publicPart !== undefined, 'who signs has a public half')
  const pair = { ...type, signing, publicPart }
  vectorConformance(pair, file?.signatures ?? [])
  signingConformance(pair, (which) => keyOf(type, which))
}

function materialConformance(type: KeyType): void {
  test(`${type.name}: generates material that loads, another each time`, async () => {
    const [one, other] = [await materialOf(type), await materialOf(type, 'other')]
    assert.notDeepEqual(one, other)
    assert.ok(!type.load(one).equals(type.load(other)))
    assert.ok(type.load(one).equals(type.load(Buffer.from(one))))
  })

  test(`${type.name}: a loaded key does not change with the buffer it came from`, async () => {
    const material = await materialOf(type)
    const key = type.load(material)
    const again = type.load(Buffer.from(material))
    material.fill(0)
    assert.ok(key.equals(again))
  })

  test(`${type.name}: material of another length is refused without showing it`, async () => {
    const { length } = await materialOf(type)
    const { min, max } = type.sizes ?? { min: length, max: length }
    for (let bytes = 0; bytes <= max + SHORT_BYTES; bytes += 1) {
      if (bytes >= min && bytes <= max) continue
      assert.throws(
        () => type.load(Buffer.alloc(bytes, 0x41)),
        (error) =>
          error instanceof InvalidKeyMaterial && error.message.includes(type.name) && !/41|AA/.test(error.message),
      )
    }
  })

  test(`${type.name}: material with a byte more at its end is refused`, async () => {
    // Where there are several lengths, only the first and the last have one beside them that is none.
    const of = async (bytes?: number) => type.generate((count) => randomBytes(count), slow, bytes)
    const longest = type.sizes === undefined ? await materialOf(type) : await of(type.sizes.max)
    const shortest = type.sizes === undefined ? longest : await of(type.sizes.min)
    assert.throws(() => type.load(Buffer.concat([longest, Buffer.of(0)])), InvalidKeyMaterial)
    assert.throws(() => type.load(shortest.subarray(0, -1)), InvalidKeyMaterial)
  })

  // Keys that are generated slowly come from the generator of the library, which nobody can hand in.
  if (type.generatesSlowly !== true) {
    test(`C-03 ${type.name}: a broken random source generates nothing`, () => {
      assert.throws(() => type.generate((count) => Buffer.alloc(count), slow), RandomnessFailed)
      assert.throws(() => type.generate((count) => Buffer.alloc(count - 1, 1), slow), RandomnessFailed)
    })
  }

  test(`N-11 ${type.name}: a loaded key prints nothing of its material`, async () => {
    const material = await materialOf(type)
    const key = type.load(material)
    const printed = inspect({ key }, { depth: 10, showHidden: true }) + JSON.stringify({ key }) + String(key)
    for (const form of ['hex', 'base64', 'base64url'] as const) assert.ok(!printed.includes(material.toString(form)))
    assert.ok(!printed.includes([...material].join()))
  })
}

function cipherConformance(type: KeyType, cipher: Cipher, vectors: readonly CipherVector[]): void {
  const { name } = type
  const nonce = randomBytes(cipher.nonceBytes)

  for (const vector of vectors) {
    test(`${name}: official vector, ${vector.name}`, async () => {
      const key = type.load(fromHex(vector.key))
      const [nonceOf, plaintext, associatedData] = [vector.nonce, vector.plaintext, vector.associatedData].map(fromHex)
      assert.ok(nonceOf !== undefined && plaintext !== undefined)
      const sealed = fromHex(vector.ciphertext + vector.tag)
      if (vector.isInvalid === true) {
        assertClosed(() => cipher.open(key, nonceOf, sealed, associatedData))
        return
      }
      assert.deepEqual(cipher.open(key, nonceOf, sealed, associatedData), plaintext)
      // What draws its own randomness inside gives another ciphertext each time.
      if (cipher.nonceBytes === 0) return
      assert.deepEqual(cipher.seal(key, nonceOf, plaintext, associatedData), sealed)
      const whole = Buffer.concat([nonceOf, sealed])
      assert.deepEqual(cipher.sealWithNonce(key, nonceOf, plaintext, associatedData), whole)
      assert.deepEqual(cipher.openWithNonce(key, whole, associatedData), plaintext)
    })
  }

  test(`${name}: every plaintext of 0 to ${SHORT_BYTES} bytes comes back, and a long one`, async () => {
    const key = await keyOf(type)
    const lengths = [...Array(SHORT_BYTES + 1).keys(), cipher.maxPlaintextBytes ?? 1024 * 1024]
    for (const length of lengths) {
      const plaintext = Buffer.alloc(length, 'plaintext ')
      assert.deepEqual(cipher.openWithNonce(key, cipher.sealWithNonce(key, nonce, plaintext)), plaintext)
    }
  })

  test(`C-05 ${name}: input of 0 to ${SHORT_BYTES} bytes that was never sealed does not open`, async () => {
    const key = await keyOf(type)
    for (let length = 0; length <= SHORT_BYTES; length += 1) {
      assertClosed(() => cipher.openWithNonce(key, Buffer.alloc(length, 1)))
      assertClosed(() => cipher.open(key, nonce, Buffer.alloc(length, 1)))
    }
  })

  test(`N-01 ${name}: no truncation of a message opens`, async () => {
    const key = await keyOf(type)
    const sealed = cipher.sealWithNonce(key, nonce, Buffer.alloc(SHORT_BYTES, 'x'))
    for (let kept = 0; kept < sealed.length; kept += 1) {
      assertClosed(() => cipher.openWithNonce(key, sealed.subarray(0, kept)))
    }
  })

  test(`P-12 ${name}: no message with one changed bit opens`, async () => {
    const key = await keyOf(type)
    const sealed = cipher.sealWithNonce(key, nonce, Buffer.from('the quick brown fox'))
    // All of them where a try takes microseconds.
    const step = cipher.openSlowly === undefined ? 1 : 61
    for (let bit = 0; bit < sealed.length * 8; bit += step) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      assertClosed(() => cipher.openWithNonce(key, changed))
    }
  })

  test(`${name}: another key does not open`, async () => {
    const sealed = cipher.sealWithNonce(await keyOf(type), nonce, Buffer.from('x'))
    const other = await keyOf(type, 'other')
    assertClosed(() => cipher.openWithNonce(other, sealed))
  })

  const { openSlowly } = cipher
  if (openSlowly !== undefined) {
    test(`${name}: what the pool opens is what opens here, and refused is the same`, async () => {
      const key = await keyOf(type)
      const sealed = cipher.sealWithNonce(key, nonce, Buffer.from('the quick brown fox'))
      assert.deepEqual(await openSlowly(slow, key, sealed), cipher.openWithNonce(key, sealed))
      await assert.rejects(openSlowly(slow, key, sealed.subarray(0, -1)), AuthenticationFailed)
      await assert.rejects(openSlowly(slow, await keyOf(type, 'other'), sealed), AuthenticationFailed)
    })
  }

  if (cipher.nonceBytes > 0) {
    test(`N-03 ${name}: a nonce of another length seals nothing`, async () => {
      const key = await keyOf(type)
      for (let length = 0; length <= 2 * cipher.nonceBytes; length += 1) {
        if (length === cipher.nonceBytes) continue
        assert.throws(() => cipher.seal(key, Buffer.alloc(length, 1), Buffer.from('x')), RangeError)
        assert.throws(() => cipher.sealWithNonce(key, Buffer.alloc(length, 1), Buffer.from('x')), RangeError)
      }
    })
  }

  if (cipher.takesAssociatedData) {
    test(`${name}: opens only with the associated data that it was sealed with`, async (t) => {
      const key = await keyOf(type)
      const bytes = fc.uint8Array({ maxLength: 40 }).map((value) => Buffer.from(value))
      fc.assert(
        fc.property(bytes, bytes, bytes, (plaintext, bound, other) => {
          const sealed = cipher.sealWithNonce(key, nonce, plaintext, bound)
          assert.deepEqual(cipher.openWithNonce(key, sealed, bound), plaintext)
          if (!bound.equals(other)) assertClosed(() => cipher.openWithNonce(key, sealed, other))
        }),
        { seed: testSeed(t), numRuns: 100 },
      )
    })
  } else {
    test(`${name}: associated data is refused instead of being left out`, async () => {
      const key = await keyOf(type)
      assert.throws(() => cipher.seal(key, nonce, Buffer.from('x'), Buffer.from('bound')), RangeError)
      assert.throws(() => cipher.sealWithNonce(key, nonce, Buffer.from('x'), Buffer.from('bound')), RangeError)
    })
  }
}

function derivationConformance(type: KeyType, cipher: Cipher, derivation: Derivation): void {
  const { name } = type
  const [here, there] = [Buffer.from('here'), Buffer.from('there')]
  const nonce = randomBytes(cipher.nonceBytes)

  test(`${name}: a derived key opens under its context only, and not under the key itself`, async () => {
    const key = await keyOf(type)
    const sealed = cipher.sealWithNonce(derivation.derive(key, here), nonce, Buffer.from('x'))
    assert.deepEqual(cipher.openWithNonce(derivation.derive(key, here), sealed), Buffer.from('x'))
    assertClosed(() => cipher.openWithNonce(derivation.derive(key, there), sealed))
    assertClosed(() => cipher.openWithNonce(key, sealed))
  })

  test(`${name}: contexts of 1 byte to 64 KiB give keys of the type's length`, async () => {
    const key = await keyOf(type)
    const derived = new Set<string>()
    for (const length of [1, 31, 32, 33, 1023, 1024, 1025, 65_536]) {
      const child: KeyObject = derivation.derive(key, Buffer.alloc(length, 1))
      assert.equal(child.symmetricKeySize, key.symmetricKeySize)
      derived.add(child.export().toString('hex'))
    }
    assert.equal(derived.size, 8)
  })

  const { convergent } = derivation
  if (convergent === undefined) return
  for (const version of ['deriveV3', 'deriveV2'] as const) {
    test(`${name}: ${version} is equal for equal plaintexts only, and opened without the nonce key`, async () => {
      const key = await keyOf(type)
      const sealUnder = (context: Buffer, plaintext: string): Buffer => {
        const keys = convergent[version](key, context)
        const bytes = Buffer.from(plaintext)
        return cipher.sealWithNonce(keys.encryptionKey, convergent.nonce(keys, bytes), bytes)
      }
      assert.deepEqual(sealUnder(here, 'x'), sealUnder(here, 'x'))
      assert.notDeepEqual(sealUnder(here, 'x'), sealUnder(here, 'y'))
      assert.notDeepEqual(sealUnder(here, 'x'), sealUnder(there, 'x'))
      assert.deepEqual(cipher.openWithNonce(derivation.derive(key, here), sealUnder(here, 'x')), Buffer.from('x'))
    })
  }

  test(`A1: ${name}: associated data enter the nonce, whose key is that of no other message`, async () => {
    const key = await keyOf(type)
    const nonceOf = (context: Buffer, plaintext: string, associatedData: string): string => {
      const keys = convergent.deriveBinding(key, context)
      return convergent.bindingNonce(keys, Buffer.from(plaintext), Buffer.from(associatedData)).toString('hex')
    }
    assert.equal(nonceOf(here, 'x', 'y'), nonceOf(here, 'x', 'y'))
    assert.equal(nonceOf(here, 'x', 'y').length, 2 * cipher.nonceBytes)
    const texts = ['', 'x', 'y', 'xy']
    const nonces = [here, there].flatMap((context) =>
      texts.flatMap((plaintext) => texts.map((associatedData) => nonceOf(context, plaintext, associatedData))),
    )
    assert.equal(new Set(nonces).size, 2 * texts.length ** 2)
    const keys = (['deriveV2', 'deriveV3', 'deriveBinding'] as const).map((how) => convergent[how](key, here))
    for (const { encryptionKey } of keys) assert.ok(encryptionKey.equals(derivation.derive(key, here)))
    assert.equal(new Set(keys.map(({ nonceKey }) => nonceKey.export().toString('hex'))).size, 3)
  })
}

function assertClosed(attempt: () => Buffer): void {
  assert.throws(attempt, AuthenticationFailed)
}
