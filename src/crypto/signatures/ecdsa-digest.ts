// What ECDSA takes as a digest that the caller made, with a key that is here and with one in a device.
import type { SignatureOptions } from '../key-types/key-type.ts'
import { notHashed, requireDigest, signatureHash } from './signature-hashes.ts'

/**
 * ECDSA itself knows no hash, and callers need not name one: then any length is taken, as recorded, from that of the
 * shortest hash that signatures were ever made with (MD5). With less, whoever finds a second message of that digest has
 * its signature; of no bytes, which are the number zero, everybody makes signatures.
 */
const LEAST_BYTES = 16

/** @throws UnusableInput */
export function requireEcdsaDigest(digest: Buffer, { hash, isHashNamed }: SignatureOptions): void {
  if (isHashNamed === true && hash !== 'none') requireDigest(signatureHash(hash), digest)
  if (digest.length < LEAST_BYTES) throw notHashed(`at least ${LEAST_BYTES} bytes`, digest)
}
