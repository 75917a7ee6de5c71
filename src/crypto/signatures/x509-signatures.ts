// How certificates, and requests for them, are signed: the algorithm as AlgorithmIdentifier (RFC 5280 section 4.1.1.2),
// and the options that make such a signature. Each key type has one way, that which every program takes.
import { DER, der, derNatural, derOid } from '../encoding/der.ts'
import type { SignatureOptions, X509Signature } from '../key-types/key-type.ts'

const OPTIONS: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  padding: 'pkcs1v15',
  saltLength: 'hash',
  marshaling: 'asn1',
}

const NULL = der(DER.null)
const SHA256_BYTES = 32
const SHA256 = der(DER.sequence, derOid('2.16.840.1.101.3.4.2.1'), NULL)
const MGF1_SHA256 = der(DER.sequence, derOid('1.2.840.113549.1.1.8'), SHA256)

/** A signature whose algorithm has no parameters. */
export function x509Signature(oid: string, options: Partial<SignatureOptions> = {}): X509Signature {
  return named(oid, options)
}

/** PKCS #1 v1.5 with SHA-256 (RFC 4055 section 5). */
export const RSA_X509 = named('1.2.840.113549.1.1.11', {}, NULL)

/** PSS with SHA-256 and a salt of its length (RFC 4055 section 3.1), for keys in devices that sign no other way. */
export const RSA_PSS_X509 = named(
  '1.2.840.113549.1.1.10',
  { padding: 'pss' },
  der(
    DER.sequence,
    der(DER.context(0), SHA256),
    der(DER.context(1), MGF1_SHA256),
    der(DER.context(2), derNatural(BigInt(SHA256_BYTES))),
  ),
)

/** Name of the extension with a subject's alternative names (RFC 5280 section 4.2.1.6). */
export const SUBJECT_ALT_NAME_OID = '2.5.29.17'

/** A whole certificate or request: `info` is what is signed, `algorithm` is AlgorithmIdentifier in DER. */
export function withSignature(info: Buffer, algorithm: Buffer, signature: Buffer): Buffer {
  return der(DER.sequence, info, algorithm, der(DER.bitString, Buffer.of(0), signature))
}

function named(oid: string, options: Partial<SignatureOptions>, ...parameters: readonly Buffer[]): X509Signature {
  return { algorithm: der(DER.sequence, derOid(oid), ...parameters), options: { ...OPTIONS, ...options } }
}
