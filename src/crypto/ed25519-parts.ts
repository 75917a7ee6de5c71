// Ed25519 keys (RFC 8032) as seed and public half, and the forms made of them (RFC 8410).
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { InvalidKeyMaterial } from './key-type.ts'
import { copySecret } from './secret-bytes.ts'

export const ED25519_BYTES = 32
export const ED25519_OID = '1.3.101.112'

const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

/** PKCS #8 of 48 bytes. `publicKey`, where it is given, is held to the seed. @throws InvalidKeyMaterial */
export function ed25519Pkcs8(seed: Buffer, publicKey?: Buffer): Buffer {
  if (seed.length !== ED25519_BYTES) throw new InvalidKeyMaterial('The private part of an ed25519 key has 32 bytes')
  const pkcs8 = copySecret(Buffer.concat([PKCS8_HEAD, Buffer.alloc(ED25519_BYTES)]))
  seed.copy(pkcs8, PKCS8_HEAD.length)
  if (publicKey !== undefined) {
    const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
    if (!ed25519PublicBytes(key).equals(publicKey))
      throw new InvalidKeyMaterial('The public half of the ed25519 key does not belong to its private one')
  }
  return pkcs8
}

/** @throws InvalidKeyMaterial */
export function ed25519Spki(publicKey: Buffer): Buffer {
  if (publicKey.length !== ED25519_BYTES) throw new InvalidKeyMaterial('The public half of an ed25519 key has 32 bytes')
  return Buffer.concat([SPKI_HEAD, publicKey])
}

/** Of either half. */
export function ed25519PublicBytes(key: KeyObject): Buffer {
  const half = key.type === 'public' ? key : createPublicKey(key)
  return half.export({ type: 'spki', format: 'der' }).subarray(SPKI_HEAD.length)
}

/** Seed ‖ public half, as other programs keep it; the caller wipes it. */
export function ed25519SeedAndPublic(key: KeyObject): Buffer {
  const pkcs8 = key.export({ type: 'pkcs8', format: 'der' })
  const both = copySecret(Buffer.alloc(2 * ED25519_BYTES))
  pkcs8.copy(both, 0, PKCS8_HEAD.length, PKCS8_HEAD.length + ED25519_BYTES)
  pkcs8.fill(0)
  ed25519PublicBytes(key).copy(both, ED25519_BYTES)
  return both
}
