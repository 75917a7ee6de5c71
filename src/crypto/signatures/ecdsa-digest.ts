// Which digests of a caller ECDSA signs, with a key that is here and with one in a device.
import type { SignatureOptions } from '../key-types/key-type.ts'
import { notHashed, requireDigest, signatureHash } from './signature-hashes.ts'

/**
 * Least length of a digest: that of MD5, the shortest hash that signatures were ever made with. ECDSA itself knows no
 * hash, and callers need not name one; then any length from here on is taken, as recorded. For a shorter digest an
 * attacker could find a second message. For an empty one, which is the number zero, anyone can make signatures.
 */
const LEAST_BYTES = 16

/** @throws UnusableInput for a digest that is too short, or not as long as the hash that the caller named */
export function requireEcdsaDigest(digest: Buffer, { hash, isHashNamed }: SignatureOptions): void {
  if (isHashNamed === true && hash !== 'none') requireDigest(signatureHash(hash), digest)
  if (digest.length < LEAST_BYTES) throw notHashed(`at least ${LEAST_BYTES} bytes`, digest)
}
