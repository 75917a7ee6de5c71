// Agrees on a key with another party: ECDH (SEC 1 section 3.3.1, RFC 5903 section 7), then HKDF-SHA-256 (RFC 5869).
import { createSecretKey, diffieHellman, type KeyObject } from 'node:crypto'
import { hkdfSha256 } from './derivation.ts'

const NO_INFO = Buffer.alloc(0)

/**
 * The agreed key, the caller's to wipe. Both keys must be on one curve with cofactor 1: then the shared point is never
 * the one at infinity.
 */
export function agreedKey(privateKey: KeyObject, publicKey: KeyObject, keyBytes: number): Buffer {
  // The x coordinate of the shared point, as long as the field of the curve.
  const shared = diffieHellman({ privateKey, publicKey })
  try {
    return hkdfSha256(createSecretKey(shared), NO_INFO, keyBytes)
  } finally {
    shared.fill(0)
  }
}
