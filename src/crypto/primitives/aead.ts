// Authenticated encryption, the only place that uses Node's ciphers (threats N-01 to N-03): the tag is always whole,
// the nonce always of the algorithm's length, and no plaintext leaves before it is authenticated.
import { type CipherGCMTypes, createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import { overwritingFreed } from '../../lib/freed-memory.ts'
import { secretBytes } from './secret-bytes.ts'
import { forChaCha, XCHACHA_NONCE_BYTES } from './xchacha20.ts'

export type AeadAlgorithm = {
  readonly name: string
  /** The name by which `node:crypto` knows it. */
  readonly nodeName: CipherGCMTypes | 'chacha20-poly1305'
  readonly keyBytes: number
  readonly nonceBytes: number
  readonly tagBytes: number
  /** Makes key and nonce for Node's cipher of these; missing: they are its own. */
  readonly prepare?: (key: KeyObject, nonce: Buffer) => { readonly key: KeyObject; readonly nonce: Buffer }
}

export const AEADS = {
  /** NIST SP 800-38D with a 96-bit IV and the full tag. */
  aes128Gcm: { name: 'AES-128-GCM', nodeName: 'aes-128-gcm', keyBytes: 16, nonceBytes: 12, tagBytes: 16 },
  /** NIST SP 800-38D with a 96-bit IV and the full tag. */
  aes256Gcm: { name: 'AES-256-GCM', nodeName: 'aes-256-gcm', keyBytes: 32, nonceBytes: 12, tagBytes: 16 },
  /** RFC 8439. */
  chacha20Poly1305: {
    name: 'ChaCha20-Poly1305',
    nodeName: 'chacha20-poly1305',
    keyBytes: 32,
    nonceBytes: 12,
    tagBytes: 16,
  },
  /** draft-irtf-cfrg-xchacha-03. */
  xchacha20Poly1305: {
    name: 'XChaCha20-Poly1305',
    nodeName: 'chacha20-poly1305',
    keyBytes: 32,
    nonceBytes: XCHACHA_NONCE_BYTES,
    tagBytes: 16,
    prepare: forChaCha,
  },
} as const satisfies Record<string, AeadAlgorithm>

/** The one answer for everything that does not open: wrong key, nonce, associated data, tag, or too short. */
export class AuthenticationFailed extends Error {
  override name = 'AuthenticationFailed'
  constructor() {
    super('message authentication failed')
  }
}

// Without it Node opens messages whose tag has 4 bytes (threats N-01). Every algorithm here has this tag.
const FULL_TAG = Object.freeze({ authTagLength: 16 })

/** Gives ciphertext ‖ tag. The nonce must never have been used with this key. */
export function seal(
  algorithm: AeadAlgorithm,
  key: KeyObject,
  nonce: Buffer,
  plaintext: Buffer,
  associatedData?: Buffer,
): Buffer {
  return sealed(newCipher(algorithm, key, nonce, associatedData), plaintext, NOTHING)
}

/** Gives nonce ‖ ciphertext ‖ tag. The nonce must never have been used with this key. */
export function sealWithNonce(
  algorithm: AeadAlgorithm,
  key: KeyObject,
  nonce: Buffer,
  plaintext: Buffer,
  associatedData?: Buffer,
): Buffer {
  return sealed(newCipher(algorithm, key, nonce, associatedData), plaintext, nonce)
}

const NOTHING = Buffer.alloc(0)

function sealed(cipher: ReturnType<typeof newCipher>, plaintext: Buffer, before: Buffer): Buffer {
  const ciphertext = cipher.update(plaintext)
  cipher.final()
  return Buffer.concat([before, ciphertext, cipher.getAuthTag()])
}

/**
 * Opens what `seal` gave.
 * @throws AuthenticationFailed
 */
export function open(
  algorithm: AeadAlgorithm,
  key: KeyObject,
  nonce: Buffer,
  sealed: Buffer,
  associatedData?: Buffer,
): Buffer {
  const decipher = begunOpening(algorithm, key, nonce, sealed, associatedData)
  return authenticated(decipher, decipher.update(sealed.subarray(0, sealed.length - algorithm.tagBytes)))
}

function begunOpening(
  algorithm: AeadAlgorithm,
  key: KeyObject,
  nonce: Buffer,
  sealed: Buffer,
  associatedData: Buffer | undefined,
) {
  const ciphertextBytes = sealed.length - algorithm.tagBytes
  if (ciphertextBytes < 0 || nonce.length !== algorithm.nonceBytes) throw new AuthenticationFailed()
  const decipher = newDecipher(algorithm, key, nonce)
  if (associatedData !== undefined && associatedData.length > 0) decipher.setAAD(associatedData)
  decipher.setAuthTag(sealed.subarray(ciphertextBytes))
  return decipher
}

function authenticated(decipher: ReturnType<typeof newDecipher>, plaintext: Buffer): Buffer {
  try {
    decipher.final()
  } catch {
    // What `update` gave is not authenticated (threats N-02).
    plaintext.fill(0)
    throw new AuthenticationFailed()
  }
  return plaintext
}

/**
 * So small that what the allocator of the system takes back it gives out again next, to the same thread and nobody
 * else (glibc keeps up to 1,032 bytes so). What is larger is put together with its neighbours and comes back anywhere.
 */
const PIECE_BYTES = 896
/** Node decrypts into memory of its own that is longer than what it gives by one block, and copies it from there. */
const BLOCK_BYTES = 1

/**
 * Like `open`, for what holds keys: nothing of them is left where they were decrypted, piece by piece. The plaintext is
 * the caller's to wipe.
 * @throws AuthenticationFailed
 */
export function openSecret(
  algorithm: AeadAlgorithm,
  key: KeyObject,
  nonce: Buffer,
  sealed: Buffer,
  associatedData?: Buffer,
): Buffer {
  const bytes = sealed.length - algorithm.tagBytes
  const decipher = begunOpening(algorithm, key, nonce, sealed, associatedData)
  const plaintext = secretBytes(bytes)
  for (let at = 0; at < bytes; at += PIECE_BYTES) {
    const part = sealed.subarray(at, Math.min(at + PIECE_BYTES, bytes))
    const piece = overwritingFreed([part.length + BLOCK_BYTES], () => decipher.update(part))
    piece.copy(plaintext, at)
    piece.fill(0)
  }
  return authenticated(decipher, plaintext)
}

/**
 * Opens what `sealWithNonce` gave.
 * @throws AuthenticationFailed
 */
export function openWithNonce(
  algorithm: AeadAlgorithm,
  key: KeyObject,
  sealed: Buffer,
  associatedData?: Buffer,
): Buffer {
  const { nonceBytes } = algorithm
  return open(algorithm, key, sealed.subarray(0, nonceBytes), sealed.subarray(nonceBytes), associatedData)
}

// Node's types know each family by its own overload; the calls are the same.

function newCipher(algorithm: AeadAlgorithm, given: KeyObject, iv: Buffer, associatedData: Buffer | undefined) {
  const { nodeName, nonceBytes, prepare } = algorithm
  // GCM would take a nonce of any length (threats N-03).
  if (iv.length !== nonceBytes) throw new RangeError(`A nonce of ${algorithm.name} has ${nonceBytes} bytes`)
  const { key, nonce } = prepare === undefined ? { key: given, nonce: iv } : prepare(given, iv)
  const cipher =
    nodeName === 'chacha20-poly1305'
      ? createCipheriv(nodeName, key, nonce, FULL_TAG)
      : createCipheriv(nodeName, key, nonce, FULL_TAG)
  if (associatedData !== undefined && associatedData.length > 0) cipher.setAAD(associatedData)
  return cipher
}

function newDecipher(algorithm: AeadAlgorithm, given: KeyObject, iv: Buffer) {
  const { nodeName, prepare } = algorithm
  const { key, nonce } = prepare === undefined ? { key: given, nonce: iv } : prepare(given, iv)
  return nodeName === 'chacha20-poly1305'
    ? createDecipheriv(nodeName, key, nonce, FULL_TAG)
    : createDecipheriv(nodeName, key, nonce, FULL_TAG)
}
