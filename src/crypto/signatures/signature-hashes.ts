// The hashes that a signature can be made with (Interface 4.3). SHA-1 is among them for verifiers that know nothing
// newer: only a caller who names it gets it.
import { UnusableInput } from '../key-types/key-type.ts'

/** A row of the table below. */
export type SignatureHash = {
  /** Its name in the API. */
  readonly name: string
  /** Its name in the runtime. */
  readonly algorithm: string
  /** Length of a digest. */
  readonly bytes: number
  /** DER that precedes the digest in a signature of PKCS #1 v1.5 (RFC 8017 section 9.2, note 1). */
  readonly digestInfo: Buffer
}

/** Object identifiers: 1.3.14.3.2.26 for SHA-1, and 2.16.840.1.101.3.4.2.n of NIST for the others. */
const SHA1_OID = Buffer.from('06052b0e03021a', 'hex')
const nistOid = (n: number): Buffer => Buffer.from(`06096086480165030402${n.toString(16).padStart(2, '0')}`, 'hex')

const ALL: readonly SignatureHash[] = [
  row('sha1', 'sha1', 20, SHA1_OID),
  row('sha2-224', 'sha224', 28, nistOid(4)),
  row('sha2-256', 'sha256', 32, nistOid(1)),
  row('sha2-384', 'sha384', 48, nistOid(2)),
  row('sha2-512', 'sha512', 64, nistOid(3)),
  row('sha3-224', 'sha3-224', 28, nistOid(7)),
  row('sha3-256', 'sha3-256', 32, nistOid(8)),
  row('sha3-384', 'sha3-384', 48, nistOid(9)),
  row('sha3-512', 'sha3-512', 64, nistOid(10)),
]
const BY_NAME: ReadonlyMap<string, SignatureHash> = new Map(ALL.map((hash) => [hash.name, hash]))

/** Names on the wire. In addition 'none' is taken, for PKCS #1 v1.5 alone. */
export const SIGNATURE_HASHES: readonly string[] = ALL.map(({ name }) => name)

/** The hash of this name. @throws UnusableInput for an unknown name, and for 'none' */
export function signatureHash(name: string): SignatureHash {
  const hash = BY_NAME.get(name)
  if (hash === undefined) throw new UnusableInput(`a signature needs a hash: ${SIGNATURE_HASHES.join(', ')}`)
  return hash
}

/** @throws UnusableInput for a digest whose length is not that of the hash */
export function requireDigest({ name, bytes }: SignatureHash, digest: Buffer): void {
  if (digest.length !== bytes) throw notHashed(`${bytes} bytes of ${name}`, digest)
}

/** The error for a digest of a wrong length. `takes` says which length is right. */
export function notHashed(takes: string, { length }: Buffer): UnusableInput {
  return new UnusableInput(`"input": input must be hashed message, as prehashed says: ${takes}, not ${length}`)
}

/**
 * Makes a row. Its `digestInfo` is SEQUENCE { SEQUENCE { OID, NULL }, OCTET STRING } up to the octets of the digest.
 * Each length takes one byte, so it must be below 128 for a new hash too.
 */
function row(name: string, algorithm: string, bytes: number, oid: Buffer): SignatureHash {
  const identifier = Buffer.from([0x30, oid.length + 2, ...oid, 0x05, 0x00])
  const digestInfo = Buffer.from([0x30, identifier.length + 2 + bytes, ...identifier, 0x04, bytes])
  return { name, algorithm, bytes, digestInfo }
}
