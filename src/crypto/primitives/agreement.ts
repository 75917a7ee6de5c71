// Keys agreed on with another party: ECDH (SEC 1 section 3.3.1, RFC 5903 section 7), then HKDF-SHA-256 (RFC 5869).
import { createSecretKey, diffieHellman, type KeyObject } from 'node:crypto'
import { hkdfSha256 } from './derivation.ts'

const NO_INFO = Buffer.alloc(0)

/** Both keys are on one curve; with cofactor 1 the shared point is never that at infinity. The caller wipes it. */
export function agreedKey(privateKey: KeyObject, publicKey: KeyObject, keyBytes: number): Buffer {
  // The x coordinate, as long as the field of the curve.
  const shared = diffieHellman({ privateKey, publicKey })
  try {
    return hkdfSha256(createSecretKey(shared), NO_INFO, keyBytes)
  } finally {
    shared.fill(0)
  }
}
