// Ed25519 keys (RFC 8032) as seed and public half, and the forms made of them (RFC 8410).
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import { secretBytes } from '../primitives/secret-bytes.ts'
import { pkcs8Of } from './pkcs8.ts'
import { publicHalf } from './public-keys.ts'

/** Length of a seed, and of a public half. */
export const ED25519_BYTES = 32
/** id-Ed25519 (RFC 8410 section 3). */
export const ED25519_OID = '1.3.101.112'

const TYPE = { asymmetricKeyType: 'ed25519' } as const

/** PKCS #8 of a seed, the caller's to wipe. A given `publicKey` must belong to it. @throws InvalidKeyMaterial */
export function ed25519Pkcs8(seed: Buffer, publicKey?: Buffer): Buffer {
  if (seed.length !== ED25519_BYTES) throw new InvalidKeyMaterial('The private part of an ed25519 key has 32 bytes')
  const key = createPrivateKey({ key: seed, format: 'raw-private', ...TYPE })
  if (publicKey !== undefined && !ed25519PublicBytes(key).equals(publicKey))
    throw new InvalidKeyMaterial('The public half of the ed25519 key does not belong to its private one')
  return pkcs8Of(key)
}

/** SubjectPublicKeyInfo of a public half. @throws InvalidKeyMaterial for another length */
export function ed25519Spki(publicKey: Buffer): Buffer {
  if (publicKey.length !== ED25519_BYTES) throw new InvalidKeyMaterial('The public half of an ed25519 key has 32 bytes')
  return createPublicKey({ key: publicKey, format: 'raw-public', ...TYPE }).export({ type: 'spki', format: 'der' })
}

/** The 32 bytes of the public half; `key` is either half. */
export function ed25519PublicBytes(key: KeyObject): Buffer {
  return publicHalf(key).export({ format: 'raw-public' })
}

/** The public half that a program gets which takes the seed for a key of X25519 (RFC 7748). */
export function x25519PublicBytes(seed: Buffer): Buffer {
  return publicHalf(createPrivateKey({ key: seed, format: 'raw-private', asymmetricKeyType: 'x25519' })).export({
    format: 'raw-public',
  })
}

/** Seed ‖ public half, the form in which other programs keep a key; the caller wipes it. */
export function ed25519SeedAndPublic(key: KeyObject): Buffer {
  const both = secretBytes(2 * ED25519_BYTES)
  const seed = key.export({ format: 'raw-private' })
  seed.copy(both)
  seed.fill(0)
  ed25519PublicBytes(key).copy(both, ED25519_BYTES)
  return both
}
