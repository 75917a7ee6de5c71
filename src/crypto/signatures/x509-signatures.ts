// How certificates, and requests for them, are signed: the name of the algorithm, an AlgorithmIdentifier (RFC 5280
// section 4.1.1.2), and the options that make such a signature. Each type of key has the one way that every program
// takes.
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

/** Of an algorithm whose name has no parameters. */
export function x509Signature(oid: string, options: Partial<SignatureOptions> = {}): X509Signature {
  return named(oid, options)
}

/** RFC 4055 section 5. */
export const RSA_X509 = named('1.2.840.113549.1.1.11', {}, NULL)

/** RFC 4055 section 3.1, with as long a salt as the hash has: for keys whose mechanism has no other padding. */
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

function named(oid: string, options: Partial<SignatureOptions>, ...parameters: readonly Buffer[]): X509Signature {
  return { algorithm: der(DER.sequence, derOid(oid), ...parameters), options: { ...OPTIONS, ...options } }
}
