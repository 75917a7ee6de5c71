// HMAC (RFC 2104) with the hashes that callers may choose by name. SHA-1 is among them, which `hash` does not offer:
// what is known to break it does not break its HMAC, and MACs of long ago must be verified.
import { createHmac, type KeyObject } from 'node:crypto'
import { HASH_NAMES, opensslHashName } from './named-hash.ts'

export const HMAC_HASH_NAMES: readonly string[] = ['sha1', ...HASH_NAMES]

/** In full length; undefined for a name that is not in HMAC_HASH_NAMES. */
export function namedHmac(name: string, key: KeyObject, input: Buffer): Buffer | undefined {
  const hash = name === 'sha1' ? 'sha1' : opensslHashName(name)
  return hash === undefined ? undefined : createHmac(hash, key).update(input).digest()
}
