// The hashes that callers may choose by name (`hash` of transit and of sys/tools): FIPS 180-4 and FIPS 202. SHA-1 is
// not among them: nothing new may rest on it.
import { createHash, hash } from 'node:crypto'

const OPENSSL_NAMES: Readonly<Record<string, string>> = {
  'sha2-224': 'sha224',
  'sha2-256': 'sha256',
  'sha2-384': 'sha384',
  'sha2-512': 'sha512',
  'sha3-224': 'sha3-224',
  'sha3-256': 'sha3-256',
  'sha3-384': 'sha3-384',
  'sha3-512': 'sha3-512',
}

/** Names on the wire (Interface 4.3). */
export const HASH_NAMES: readonly string[] = Object.keys(OPENSSL_NAMES)

/** The runtime's name of a hash; undefined for a name that is not in HASH_NAMES. */
export function opensslHashName(name: string): string | undefined {
  return Object.hasOwn(OPENSSL_NAMES, name) ? OPENSSL_NAMES[name] : undefined
}

/** The hash of `data`; undefined for a name that is not in HASH_NAMES. */
export function namedHash(name: string, data: Buffer): Buffer | undefined {
  const openssl = opensslHashName(name)
  return openssl === undefined ? undefined : hash(openssl, data, 'buffer')
}

/** The hash of data that come in parts; undefined for a name that is not in HASH_NAMES, before any part is read. */
export async function namedHashOf(name: string, parts: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const openssl = opensslHashName(name)
  if (openssl === undefined) return undefined
  const hasher = createHash(openssl)
  for await (const part of parts) hasher.update(part)
  return hasher.digest()
}
