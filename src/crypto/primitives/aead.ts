// Authenticated encryption, the only place that uses Node's AEAD ciphers (threats N-01 to N-03, P-12). The tag is
// always whole, the nonce always of the algorithm's length, and no plaintext leaves before it is authenticated.
import { type CipherGCMTypes, createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import { overwritingFreed } from '../../lib/freed-memory.ts'
import { secretBytes } from './secret-bytes.ts'
import { forChaCha, XCHACHA_NONCE_BYTES } from './xchacha20.ts'

/** An algorithm and its sizes. `name` is for messages. */
export type AeadAlgorithm = {
  readonly name: string
  /** Its name in `node:crypto`. */
  readonly nodeName: CipherGCMTypes | 'chacha20-poly1305'
  readonly keyBytes: number
  readonly nonceBytes: number
  readonly tagBytes: number
  /** Makes key and nonce for Node's cipher, if that is another algorithm; otherwise they are used as they are. */
  readonly prepare?: (key: KeyObject, nonce: Buffer) => { readonly key: KeyObject; readonly nonce: Buffer }
}

/** The algorithms in use. Callers name one in code, never by a string of a request. */
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

/** The one error for all that does not open: wrong key, nonce, associated data, tag or length (threats C-11). */
export class AuthenticationFailed extends Error {
  override name = 'AuthenticationFailed'
  constructor() {
    super('message authentication failed')
  }
}

// Without it Node opens messages whose tag has 4 bytes (threats N-01). Every algorithm here has a tag of 16 bytes.
const FULL_TAG = Object.freeze({ authTagLength: 16 })

/** Returns ciphertext ‖ tag. The nonce must never have been used with this key. @throws RangeError for its length */
export function seal(
  algorithm: AeadAlgorithm,
  key: KeyObject,
  nonce: Buffer,
  plaintext: Buffer,
  associatedData?: Buffer,
): Buffer {
  return sealed(newCipher(algorithm, key, nonce, associatedData), plaintext, NOTHING)
}

/** Returns nonce ‖ ciphertext ‖ tag. The nonce must never have been used with this key. @throws as `seal` */
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
 * Opens what `seal` returned. For plaintexts of callers; `openSecret` is for keys.
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
    // The plaintext that `update` returned is not authenticated (threats N-02).
    plaintext.fill(0)
    throw new AuthenticationFailed()
  }
  return plaintext
}

/**
 * Bytes decrypted at once by `openSecret`. The system's allocator gives a freed piece so small out again next, to the
 * same thread (glibc keeps up to 1,032 bytes so): it can be overwritten. Larger ones are merged with their neighbours
 * and come back anywhere.
 */
const PIECE_BYTES = 896
/** Node decrypts into memory that is longer than the result by one block, and copies the result from there. */
const BLOCK_BYTES = 1

/**
 * Opens as `open` does, for records that hold keys. It decrypts piece by piece and overwrites the memory that each
 * piece was decrypted in, so nothing of a key is left there (threats P-14). The plaintext is the caller's to wipe.
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
 * Opens what `sealWithNonce` returned.
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

// Node declares an overload for each family, so each call stands twice below.

function newCipher(algorithm: AeadAlgorithm, given: KeyObject, iv: Buffer, associatedData: Buffer | undefined) {
  const { nodeName, nonceBytes, prepare } = algorithm
  // GCM itself takes a nonce of any length (threats N-03).
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
