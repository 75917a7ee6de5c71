// Seals one message for the holder of an X25519 key: HPKE (RFC 9180), mode base, with DHKEM(X25519, HKDF-SHA256) and
// HKDF-SHA256. Anyone with the public key can seal, so the receiver must know its sender by other means.
//
//   sealed   encapsulated key 32 (the public half of a key that is used once) | ciphertext | tag 16
import { createPrivateKey, createPublicKey, createSecretKey, diffieHellman, type KeyObject } from 'node:crypto'
import { AEADS, type AeadAlgorithm, AuthenticationFailed, openSecret, seal } from './aead.ts'
import { hkdfExpand, hkdfExtract } from './derivation.ts'
import { secretBytes } from './secret-bytes.ts'
import { exportSecret } from './secret-key.ts'

/** Length of an X25519 key, private or public, and of what it agrees on. */
export const X25519_BYTES = 32

/** Both halves of an X25519 key. The public one is the 32 bytes that others seal for. */
export type X25519Key = { readonly privateKey: KeyObject; readonly publicKey: Buffer }

/** What a message is bound to: it opens only with the same `info`, which both sides know. */
export type HpkeOptions = {
  readonly info: Buffer
  /** Missing: AES-256-GCM. The vectors of the RFC have AES-128-GCM. */
  readonly aead?: AeadAlgorithm
}

const VERSION = Buffer.from('HPKE-v1')
const MODE_BASE = 0
/** DHKEM(X25519, HKDF-SHA256), RFC 9180 section 7.1. */
const KEM_ID = 0x0020
/** HKDF-SHA256, section 7.2. */
const KDF_ID = 0x0001
/** Section 7.3: 1 is AES-128-GCM, 2 is AES-256-GCM. */
const AEAD_IDS: ReadonlyMap<AeadAlgorithm, number> = new Map<AeadAlgorithm, number>([
  [AEADS.aes128Gcm, 0x0001],
  [AEADS.aes256Gcm, 0x0002],
])
const NOTHING = Buffer.alloc(0)
/** An empty salt is as many zeros as the hash has bytes (RFC 5869 section 2.2). */
const NO_SALT = createSecretKey(Buffer.alloc(32))

/** A key from 32 random bytes, which the caller wipes. @throws RangeError for another length */
export function x25519Key(seed: Buffer): X25519Key {
  if (seed.length !== X25519_BYTES) throw new RangeError(`An X25519 key has ${X25519_BYTES} bytes`)
  const privateKey = createPrivateKey({ key: seed, format: 'raw-private', asymmetricKeyType: 'x25519' })
  return { privateKey, publicKey: createPublicKey(privateKey).export({ format: 'raw-public' }) }
}

/**
 * Seals for the holder of `publicKey`. `seed` is 32 fresh random bytes for the key that is used once; the caller wipes
 * them. @throws RangeError for a seed or public key of another length, AuthenticationFailed for one that agrees on zero
 */
export function hpkeSeal(publicKey: Buffer, seed: Buffer, plaintext: Buffer, options: HpkeOptions): Buffer {
  const once = x25519Key(seed)
  const shared = sharedSecret(once.privateKey, publicKey, { encapsulated: once.publicKey, receiver: publicKey })
  const { aead, key, nonce } = messageKeys(shared, options)
  return Buffer.concat([once.publicKey, seal(aead, key, nonce, plaintext)])
}

/** Opens what `hpkeSeal` returned; the caller wipes the plaintext. @throws AuthenticationFailed for anything else */
export function hpkeOpen({ privateKey, publicKey }: X25519Key, sealed: Buffer, options: HpkeOptions): Buffer {
  if (sealed.length < X25519_BYTES) throw new AuthenticationFailed()
  const encapsulated = sealed.subarray(0, X25519_BYTES)
  const shared = sharedSecret(privateKey, encapsulated, { encapsulated, receiver: publicKey })
  const { aead, key, nonce } = messageKeys(shared, options)
  return openSecret(aead, key, nonce, sealed.subarray(X25519_BYTES))
}

/** ExtractAndExpand of section 4.1 over the agreed point. */
function sharedSecret(
  privateKey: KeyObject,
  peer: Buffer,
  { encapsulated, receiver }: { readonly encapsulated: Buffer; readonly receiver: Buffer },
): KeyObject {
  if (peer.length !== X25519_BYTES) throw new RangeError(`A public X25519 key has ${X25519_BYTES} bytes`)
  const suite = Buffer.concat([Buffer.from('KEM'), u16(KEM_ID)])
  const point = agreedPoint(
    privateKey,
    createPublicKey({ key: peer, format: 'raw-public', asymmetricKeyType: 'x25519' }),
  )
  const extracted = labelledExtract(suite, NO_SALT, 'eae_prk', point)
  point.fill(0)
  return labelledExpand(suite, extracted, 'shared_secret', Buffer.concat([encapsulated, receiver]), X25519_BYTES)
}

/** The x coordinate; the caller wipes it. A point of small order agrees on zeros, which OpenSSL refuses. */
function agreedPoint(privateKey: KeyObject, publicKey: KeyObject): Buffer {
  try {
    return diffieHellman({ privateKey, publicKey })
  } catch {
    throw new AuthenticationFailed()
  }
}

/** The key schedule of section 5.1 in mode base, for the first message. */
function messageKeys(shared: KeyObject, { info, aead = AEADS.aes256Gcm }: HpkeOptions) {
  const aeadId = AEAD_IDS.get(aead)
  if (aeadId === undefined) throw new RangeError(`${aead.name} has no number in HPKE`)
  const suite = Buffer.concat([Buffer.from('HPKE'), u16(KEM_ID), u16(KDF_ID), u16(aeadId)])
  const hashes = [
    labelledExtract(suite, NO_SALT, 'psk_id_hash', NOTHING),
    labelledExtract(suite, NO_SALT, 'info_hash', info),
  ]
  const context = Buffer.concat([Buffer.from([MODE_BASE]), ...hashes.map(exportSecret)])
  const secret = labelledExtract(suite, shared, 'secret', NOTHING)
  const nonceKey = labelledExpand(suite, secret, 'base_nonce', context, aead.nonceBytes)
  return { aead, key: labelledExpand(suite, secret, 'key', context, aead.keyBytes), nonce: exportSecret(nonceKey) }
}

/** Section 4: the salt is the HMAC key, and the labelled material its message. */
function labelledExtract(suite: Buffer, salt: KeyObject, label: string, material: Buffer): KeyObject {
  const head = Buffer.concat([VERSION, suite, Buffer.from(label)])
  const labelled = secretBytes(head.length + material.length)
  head.copy(labelled)
  material.copy(labelled, head.length)
  const key = createSecretKey(labelled)
  labelled.fill(0)
  return hkdfExtract(key, salt)
}

function labelledExpand(suite: Buffer, key: KeyObject, label: string, context: Buffer, length: number): KeyObject {
  const info = Buffer.concat([u16(length), VERSION, suite, Buffer.from(label), context])
  const bytes = hkdfExpand(key, info, length)
  const expanded = createSecretKey(bytes)
  bytes.fill(0)
  return expanded
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}
