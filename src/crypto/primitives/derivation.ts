// Keys derived from a key version and the caller's context (Interface 4.3), and the nonces of convergent
// encryption. Wire formats: a ciphertext made years ago opens only if every byte here stays as it is.
import { createSecretKey, type KeyObject } from 'node:crypto'
import { hmacSha256 } from './digest.ts'

const HASH_BYTES = 32
/** RFC 5869 section 2.3. */
const MAX_HKDF_BYTES = 255 * HASH_BYTES
/** RFC 5869 section 2.2: a salt that is not given is a hash length of zeros. */
const NO_SALT = createSecretKey(Buffer.alloc(HASH_BYTES))

// The extracted key of each loaded key, kept as long as that is: with it a derivation is one HMAC (2 µs) instead of
// two and an export (5 µs, as `hkdfSync` takes too; that one also refuses contexts above 1,024 bytes).
const extracted = new WeakMap<KeyObject, KeyObject>()

/** HKDF-SHA-256 (RFC 5869) without salt. The output is the caller's to wipe. */
export function hkdfSha256(key: KeyObject, info: Buffer, length: number): Buffer {
  let pseudorandomKey = extracted.get(key)
  if (pseudorandomKey === undefined) {
    pseudorandomKey = hkdfExtract(key, NO_SALT)
    extracted.set(key, pseudorandomKey)
  }
  return hkdfExpand(pseudorandomKey, info, length)
}

/** RFC 5869 section 2.2. */
export function hkdfExtract(key: KeyObject, salt: KeyObject): KeyObject {
  const material = key.export()
  const digest = hmacSha256(salt, material)
  material.fill(0)
  return secretKey(digest)
}

/** RFC 5869 section 2.3: T(i) = HMAC(T(i-1) ‖ info ‖ i). The output is the caller's to wipe. */
export function hkdfExpand(pseudorandomKey: KeyObject, info: Buffer, length: number): Buffer {
  if (length < 1 || length > MAX_HKDF_BYTES) throw new RangeError(`HKDF-SHA-256 gives 1 to ${MAX_HKDF_BYTES} bytes`)
  const output = Buffer.alloc(length)
  // One buffer, T(i-1) ‖ info ‖ i: each call into OpenSSL that is saved counts here. The first block has no T.
  const input = Buffer.alloc(HASH_BYTES + info.length + 1)
  info.copy(input, HASH_BYTES)
  let from = HASH_BYTES
  for (let at = 0; at < length; at += HASH_BYTES) {
    input.writeUInt8(at / HASH_BYTES + 1, input.length - 1)
    const block = hmacSha256(pseudorandomKey, input.subarray(from))
    block.copy(output, at)
    block.copy(input)
    block.fill(0)
    from = 0
  }
  input.fill(0)
  return output
}

/** The key for one context: the first `keyBytes` of HKDF with the context as info. */
export function deriveKey(key: KeyObject, context: Buffer, keyBytes: number): KeyObject {
  return secretKey(hkdfSha256(key, context, keyBytes))
}

/**
 * What keys of before 2015 were derived with; only backups still hold such keys. One block of the counter-mode KDF of
 * NIST SP 800-108 with a counter that begins at zero: HMAC(key, be32(0) ‖ context ‖ be32(256)).
 */
export function deriveKeyByCounter(key: KeyObject, context: Buffer): KeyObject {
  const counter = Buffer.alloc(4)
  const lengthInBits = Buffer.alloc(4)
  lengthInBits.writeUInt32BE(256)
  return secretKey(hmacSha256(key, counter, context, lengthInBits))
}

/** What convergent encryption seals with: equal messages under one context get equal nonces. */
export type ConvergentKeys = { readonly encryptionKey: KeyObject; readonly nonceKey: KeyObject }

/** Convergent version 3: both keys from one output of HKDF, the nonce key being its last 32 bytes. */
export function deriveConvergentKeys(key: KeyObject, context: Buffer, keyBytes: number): ConvergentKeys {
  const output = hkdfSha256(key, context, keyBytes + HASH_BYTES)
  const encryptionKey = createSecretKey(output.subarray(0, keyBytes))
  const nonceKey = createSecretKey(output.subarray(keyBytes))
  output.fill(0)
  return { encryptionKey, nonceKey }
}

/**
 * Convergent version 2, for restored keys only: the nonce depends on the context, which is no secret, so whoever can
 * guess a plaintext can confirm it from the ciphertext (threats C-02).
 */
export function deriveConvergentKeysV2(key: KeyObject, context: Buffer, keyBytes: number): ConvergentKeys {
  return { encryptionKey: deriveKey(key, context, keyBytes), nonceKey: createSecretKey(context) }
}

/** The head of HMAC-SHA-256 over the plaintext, where the message has no associated data: the format is fixed. */
export function convergentNonce(nonceKey: KeyObject, plaintext: Buffer, nonceBytes: number): Buffer {
  return hmacSha256(nonceKey, plaintext).subarray(0, nonceBytes)
}

/**
 * For messages with associated data, in versions 2 and 3: the nonce key is the 32 bytes of HKDF behind those of version
 * 3. Under a key of its own no such nonce is ever that of a plaintext alone (docs/decisions/0011).
 */
export function deriveBindingKeys(key: KeyObject, context: Buffer, keyBytes: number): ConvergentKeys {
  const output = hkdfSha256(key, context, keyBytes + 2 * HASH_BYTES)
  const encryptionKey = createSecretKey(output.subarray(0, keyBytes))
  const nonceKey = createSecretKey(output.subarray(keyBytes + HASH_BYTES))
  output.fill(0)
  return { encryptionKey, nonceKey }
}

/**
 * The head of HMAC-SHA-256(be64(length of the associated data) ‖ associated data ‖ plaintext): no other pair of the two
 * is written like this.
 */
export function bindingNonce(
  nonceKey: KeyObject,
  plaintext: Buffer,
  associatedData: Buffer,
  nonceBytes: number,
): Buffer {
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(associatedData.length))
  return hmacSha256(nonceKey, length, associatedData, plaintext).subarray(0, nonceBytes)
}

/** Wipes the bytes that it was made of. */
function secretKey(bytes: Buffer): KeyObject {
  const key = createSecretKey(bytes)
  bytes.fill(0)
  return key
}
