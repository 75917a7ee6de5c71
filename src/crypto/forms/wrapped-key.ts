// A key on its way into or out of the service: CKM_RSA_AES_KEY_WRAP (PKCS #11 version 3.0 section 2.1.21).
//
//   offset  bytes
//   0       M      RSAES-OAEP of a random AES key of 32 bytes; M is the length of the modulus, 512 for a wrapping key
//   M       rest   AES-256-KWP of the key under that AES key
//
// The mask generation of OAEP uses the same hash, and its label is empty.
import { constants, createSecretKey, type KeyObject, privateDecrypt, publicEncrypt } from 'node:crypto'
import type { Job } from '../../lib/slow-work.ts'
import { unwrapKey, wrapKey } from '../primitives/key-wrap.ts'
import { freshBytes, type RandomBytes } from '../primitives/random-bytes.ts'
import { pkcs8Of } from './pkcs8.ts'

const AES_KEY_BYTES = 32

/** Hashes of OAEP by their names on the wire, without a dash (Interface 4.2). */
export const OAEP_HASHES = ['SHA1', 'SHA224', 'SHA256', 'SHA384', 'SHA512'] as const
/** A hash of OAEP in capital letters; callers may write it in any case. */
export type OaepHash = (typeof OAEP_HASHES)[number]

/** The hash with this name in any case of letters; undefined if there is none. */
export function oaepHash(name: string): OaepHash | undefined {
  return OAEP_HASHES.find((one) => one === name.toUpperCase())
}

/** Length of the first part. A blob that is not longer lacks the second one. */
export function headBytes({ asymmetricKeyDetails }: KeyObject): number {
  return (asymmetricKeyDetails?.modulusLength ?? 0) / 8
}

const oaep = (key: KeyObject, hash: OaepHash) =>
  ({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash.toLowerCase() }) as const

/** Wraps a key. `wrappingKey` is either half of an RSA pair. @throws RandomnessFailed */
export function wrapForRsa(wrappingKey: KeyObject, hash: OaepHash, key: Buffer, random: RandomBytes): Buffer {
  const aesKey = freshBytes(random, AES_KEY_BYTES)
  try {
    return Buffer.concat([publicEncrypt(oaep(wrappingKey, hash), aesKey), wrapKey(createSecretKey(aesKey), key)])
  } finally {
    aesKey.fill(0)
  }
}

/**
 * Unwraps a key, the caller's to wipe. Undefined for anything wrong with either part, and after the same work for both.
 * A caller who could tell the parts apart could learn the AES key of another caller's blob by sending changed ones
 * (RFC 8017 section 7.1.2).
 */
export function unwrapFromRsa(
  wrappingKey: KeyObject,
  hash: OaepHash,
  blob: Buffer,
  random: RandomBytes,
): Buffer | undefined {
  const head = headBytes(wrappingKey)
  // A random key takes the place of one that did not open, so that the second part is tried in any case.
  const aesKey = freshBytes(random, AES_KEY_BYTES)
  const opened = openHead(wrappingKey, hash, blob.subarray(0, head))
  try {
    if (opened?.length === AES_KEY_BYTES) opened.copy(aesKey)
    return unwrapKey(createSecretKey(aesKey), blob.subarray(head))
  } finally {
    aesKey.fill(0)
    opened?.fill(0)
  }
}

/** Opens the first part alone: RSAES-OAEP with an empty label. Undefined if it does not open. */
export function openHead(wrappingKey: KeyObject, hash: OaepHash, head: Buffer): Buffer | undefined {
  try {
    return privateDecrypt(oaep(wrappingKey, hash), head)
  } catch {
    return undefined
  }
}

type Unwrapping = { readonly wrappingKey: KeyObject; readonly hash: OaepHash; readonly blob: Uint8Array }

/** Unwraps on a thread of the pool: the private half of RSA-4096 takes 2 ms and more. The key is handed over. */
export const UNWRAP_FROM_RSA: Job<Unwrapping, ArrayBuffer | undefined> = {
  name: 'rsa-unwrap-key',
  takes: 'short',
  run: ({ wrappingKey, hash, blob }, { random }) => {
    const key = unwrapFromRsa(
      wrappingKey,
      hash,
      Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength),
      random.bytes,
    )
    if (key === undefined) return undefined
    const memory = new ArrayBuffer(key.length)
    key.copy(new Uint8Array(memory))
    key.fill(0)
    return memory
  },
  moves: (key) => (key === undefined ? [] : [key]),
}

type Wrapping = { readonly wrappingKey: KeyObject; readonly hash: OaepHash; readonly keys: readonly KeyObject[] }

/** Wraps several keys, each as `transferBytes` writes it. Returns a blob for each. */
export const WRAP_FOR_RSA: Job<Wrapping, Uint8Array[]> = {
  name: 'rsa-wrap-keys',
  takes: 'short',
  run: ({ wrappingKey, hash, keys }, { random }) =>
    keys.map((key) => {
      const bytes = transferBytes(key)
      try {
        return new Uint8Array(wrapForRsa(wrappingKey, hash, bytes, random.bytes))
      } finally {
        bytes.fill(0)
      }
    }),
}

/** The key as an import takes it: a secret key raw, the private half of a pair in PKCS #8. The caller wipes it. */
export function transferBytes(key: KeyObject): Buffer {
  return key.type === 'secret' ? key.export() : pkcs8Of(key)
}
