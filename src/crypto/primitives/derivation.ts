// Keys derived from a key version and the caller's context (Interface 4.3), and the nonces of convergent encryption.
// These are wire formats: a ciphertext made years ago opens only if every byte here stays as it is.
import { createSecretKey, type KeyObject } from 'node:crypto'
import { hmacSha256 } from './digest.ts'

const HASH_BYTES = 32
/** RFC 5869 section 2.3. */
const MAX_HKDF_BYTES = 255 * HASH_BYTES
/** A salt that is not given is as many zeros as the hash has bytes (RFC 5869 section 2.2). */
const NO_SALT = createSecretKey(Buffer.alloc(HASH_BYTES))

// The extracted key of each loaded key, kept as long as the key is. With it a derivation is one HMAC (2 µs) instead of
// two and an export (5 µs). `hkdfSync` takes as long, and refuses contexts above 1,024 bytes.
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

/** The extract step of HKDF-SHA-256 (RFC 5869 section 2.2), without a copy of the key left behind. */
export function hkdfExtract(key: KeyObject, salt: KeyObject): KeyObject {
  const material = key.export()
  const digest = hmacSha256(salt, material)
  material.fill(0)
  return secretKey(digest)
}

/**
 * The expand step (RFC 5869 section 2.3): T(i) = HMAC(T(i-1) ‖ info ‖ i). The output is the caller's to wipe.
 * @throws RangeError unless `length` is 1 to 8,160
 */
export function hkdfExpand(pseudorandomKey: KeyObject, info: Buffer, length: number): Buffer {
  if (length < 1 || length > MAX_HKDF_BYTES) throw new RangeError(`HKDF-SHA-256 gives 1 to ${MAX_HKDF_BYTES} bytes`)
  const output = Buffer.alloc(length)
  // One buffer for T(i-1) ‖ info ‖ i, to save calls into OpenSSL, which dominate. The first block has no T.
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
 * The derivation of keys from before 2015, which only backups still hold. One block of the counter-mode KDF of
 * NIST SP 800-108 with a counter that begins at zero: HMAC(key, be32(0) ‖ context ‖ be32(256)).
 */
export function deriveKeyByCounter(key: KeyObject, context: Buffer): KeyObject {
  const counter = Buffer.alloc(4)
  const lengthInBits = Buffer.alloc(4)
  lengthInBits.writeUInt32BE(256)
  return secretKey(hmacSha256(key, counter, context, lengthInBits))
}

/** The two keys of convergent encryption: equal messages under one context get equal nonces, so equal ciphertexts. */
export type ConvergentKeys = { readonly encryptionKey: KeyObject; readonly nonceKey: KeyObject }

/** Convergent version 3: both keys come from one output of HKDF, and the nonce key is its last 32 bytes. */
export function deriveConvergentKeys(key: KeyObject, context: Buffer, keyBytes: number): ConvergentKeys {
  const output = hkdfSha256(key, context, keyBytes + HASH_BYTES)
  const encryptionKey = createSecretKey(output.subarray(0, keyBytes))
  const nonceKey = createSecretKey(output.subarray(keyBytes))
  output.fill(0)
  return { encryptionKey, nonceKey }
}

/**
 * Convergent version 2, for restored keys only. Its nonce key is the context, which is no secret: an attacker who can
 * guess a plaintext can confirm it from the ciphertext (threats C-02).
 */
export function deriveConvergentKeysV2(key: KeyObject, context: Buffer, keyBytes: number): ConvergentKeys {
  return { encryptionKey: deriveKey(key, context, keyBytes), nonceKey: createSecretKey(context) }
}

/** The nonce of a message without associated data: the head of HMAC-SHA-256 over the plaintext. */
export function convergentNonce(nonceKey: KeyObject, plaintext: Buffer, nonceBytes: number): Buffer {
  return hmacSha256(nonceKey, plaintext).subarray(0, nonceBytes)
}

/**
 * The keys for messages with associated data, in versions 2 and 3. The nonce key is the 32 bytes of HKDF after the
 * nonce key of version 3. Having its own key, no such nonce equals that of a plaintext alone (docs/decisions/0011).
 */
export function deriveBindingKeys(key: KeyObject, context: Buffer, keyBytes: number): ConvergentKeys {
  const output = hkdfSha256(key, context, keyBytes + 2 * HASH_BYTES)
  const encryptionKey = createSecretKey(output.subarray(0, keyBytes))
  const nonceKey = createSecretKey(output.subarray(keyBytes + HASH_BYTES))
  output.fill(0)
  return { encryptionKey, nonceKey }
}

/**
 * The nonce of a message with associated data: the head of HMAC-SHA-256(be64(length of the associated data) ‖
 * associated data ‖ plaintext). The length keeps two different pairs from having the same hash.
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

/** A key made of `bytes`, which it wipes. */
function secretKey(bytes: Buffer): KeyObject {
  const key = createSecretKey(bytes)
  bytes.fill(0)
  return key
}
