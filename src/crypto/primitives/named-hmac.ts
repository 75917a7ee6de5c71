// HMAC (RFC 2104) with the hashes that callers may choose by name. SHA-1 is among them, though `hash` does not offer
// it: the known attacks on it do not break its HMAC, and old MACs must still be verified.
import { createHmac, type KeyObject } from 'node:crypto'
import { HASH_NAMES, opensslHashName } from './named-hash.ts'

/** Names on the wire (Interface 4.3). */
export const HMAC_HASH_NAMES: readonly string[] = ['sha1', ...HASH_NAMES]

/** The HMAC in full length; undefined for a name that is not in HMAC_HASH_NAMES. */
export function namedHmac(name: string, key: KeyObject, input: Buffer): Buffer | undefined {
  const hash = name === 'sha1' ? 'sha1' : opensslHashName(name)
  return hash === undefined ? undefined : createHmac(hash, key).update(input).digest()
}
