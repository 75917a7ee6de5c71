// Computes known answers of the primitives that protect stored data, before the server does anything with a key
// (threats P-16). A broken or replaced library then stops the start, instead of writing ciphertexts that do not open.
// Signatures, RSA and password hashing have no test here.
import { createSecretKey } from 'node:crypto'
import { AEADS, type AeadAlgorithm, AuthenticationFailed, open, seal } from './primitives/aead.ts'
import { hkdfSha256 } from './primitives/derivation.ts'
import { hmacSha256, sha256 } from './primitives/digest.ts'
import { multiply } from './primitives/galois-field.ts'
import { combineShares, splitSecret } from './primitives/shamir.ts'

/** A primitive did not give its known answer. The server must not start. */
export class SelfTestFailed extends Error {
  override name = 'SelfTestFailed'
  readonly primitive: string
  constructor(primitive: string, cause?: unknown) {
    super(`The cryptographic self-test of ${primitive} failed: this runtime must not be used`, { cause })
    this.primitive = primitive
  }
}

/** The test of one primitive. */
export type SelfTest = {
  readonly primitive: string
  /** True if the primitive gave its known answer. */
  readonly passes: () => boolean
}

const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex')

type AeadAnswer = {
  readonly key: string
  readonly nonce: string
  readonly plaintext: string
  readonly associatedData: string
  /** Ciphertext ‖ tag. */
  readonly sealed: string
}

/** Seals to the known answer, opens it again, and refuses it with one bit of the tag changed. */
function aeadPasses(algorithm: AeadAlgorithm, answer: AeadAnswer): boolean {
  const key = createSecretKey(fromHex(answer.key))
  const nonce = fromHex(answer.nonce)
  const plaintext = fromHex(answer.plaintext)
  const associatedData = fromHex(answer.associatedData)
  const sealed = fromHex(answer.sealed)
  if (!seal(algorithm, key, nonce, plaintext, associatedData).equals(sealed)) return false
  if (!open(algorithm, key, nonce, sealed, associatedData).equals(plaintext)) return false
  sealed.writeUInt8(sealed.readUInt8(sealed.length - 1) ^ 1, sealed.length - 1)
  try {
    open(algorithm, key, nonce, sealed, associatedData)
    return false
  } catch (error) {
    return error instanceof AuthenticationFailed
  }
}

// Test cases 4 and 16 of the GCM specification (submission to NIST, appendix B) share these.
const GCM = {
  nonce: 'cafebabefacedbaddecaf888',
  plaintext:
    'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525' +
    'b16aedf5aa0de657ba637b39',
  associatedData: 'feedfacedeadbeeffeedfacedeadbeefabaddad2',
}

/** FIPS 197 section 4.2: 57 · 83 = c1. Split with constant coefficients, then combined from the last two shares. */
function shamirPasses(): boolean {
  if (multiply(0x57, 0x83) !== 0xc1) return false
  const secret = fromHex('00ff53ca')
  const shares = splitSecret(secret, 3, 2, (count) => Buffer.alloc(count, 0x57))
  const onTheLine = shares.every((share) => {
    const x = share.readUInt8(secret.length)
    return secret.every((byte, at) => share.readUInt8(at) === (byte ^ multiply(0x57, x)))
  })
  return onTheLine && combineShares(shares.slice(1)).equals(secret)
}

const SELF_TESTS: readonly SelfTest[] = [
  {
    primitive: 'SHA-256',
    // FIPS 180-4, the example "abc".
    passes: () =>
      sha256(Buffer.from('abc')).equals(fromHex('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')),
  },
  {
    primitive: 'HMAC-SHA-256',
    // RFC 4231 section 4.3.
    passes: () =>
      hmacSha256(createSecretKey(Buffer.from('Jefe')), Buffer.from('what do ya want for nothing?')).equals(
        fromHex('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'),
      ),
  },
  {
    primitive: 'HKDF-SHA-256',
    // RFC 5869 appendix A.3.
    passes: () =>
      hkdfSha256(createSecretKey(Buffer.alloc(22, 0x0b)), Buffer.alloc(0), 42).equals(
        fromHex('8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8'),
      ),
  },
  {
    primitive: 'AES-128-GCM',
    passes: () =>
      aeadPasses(AEADS.aes128Gcm, {
        ...GCM,
        key: 'feffe9928665731c6d6a8f9467308308',
        sealed:
          '42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05' +
          '1ba30b396a0aac973d58e0915bc94fbc3221a5db94fae95ae7121a47',
      }),
  },
  {
    primitive: 'AES-256-GCM',
    passes: () =>
      aeadPasses(AEADS.aes256Gcm, {
        ...GCM,
        key: 'feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308',
        sealed:
          '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838' +
          'c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b',
      }),
  },
  {
    primitive: 'ChaCha20-Poly1305',
    // RFC 8439 section 2.8.2.
    passes: () =>
      aeadPasses(AEADS.chacha20Poly1305, {
        key: '808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f',
        nonce: '070000004041424344454647',
        plaintext:
          '4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a20496620492063' +
          '6f756c64206f6666657220796f75206f6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73' +
          '637265656e20776f756c642062652069742e',
        associatedData: '50515253c0c1c2c3c4c5c6c7',
        sealed:
          'd31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b' +
          '1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc' +
          '3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691',
      }),
  },
  {
    primitive: 'XChaCha20-Poly1305',
    // draft-irtf-cfrg-xchacha-03 appendix A.3.1.
    passes: () =>
      aeadPasses(AEADS.xchacha20Poly1305, {
        key: '808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f',
        nonce: '404142434445464748494a4b4c4d4e4f5051525354555657',
        plaintext:
          '4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a20496620492063' +
          '6f756c64206f6666657220796f75206f6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73' +
          '637265656e20776f756c642062652069742e',
        associatedData: '50515253c0c1c2c3c4c5c6c7',
        sealed:
          'bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39' +
          'ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9' +
          '21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49',
      }),
  },
  { primitive: "Shamir's secret sharing", passes: shamirPasses },
]

/**
 * Runs all tests, at start and on demand; about a millisecond.
 * @throws SelfTestFailed with the name of the first primitive that is wrong
 */
export function runSelfTests(tests: readonly SelfTest[] = SELF_TESTS): void {
  for (const { primitive, passes } of tests) {
    let passed = false
    try {
      passed = passes()
    } catch (cause) {
      throw new SelfTestFailed(primitive, cause)
    }
    if (!passed) throw new SelfTestFailed(primitive)
  }
}
