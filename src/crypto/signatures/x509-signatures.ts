// How each type of key signs certificates and requests for them: the one way for each that every program takes, and its
// name, an AlgorithmIdentifier (RFC 5280 section 4.1.1.2).
import { DER, der, derNatural, derOid } from '../encoding/der.ts'
import type { SignatureOptions } from '../key-types/key-type.ts'

export type X509Signature = {
  /** AlgorithmIdentifier in DER. */
  readonly algorithm: Buffer
  readonly options: SignatureOptions
}

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

/** RFC 4055 section 5. */
const RSA = named('1.2.840.113549.1.1.11', OPTIONS, NULL)

/** RFC 4055 section 3.1, with as long a salt as the hash has: for keys whose mechanism has no other padding. */
export const RSA_PSS_X509 = named(
  '1.2.840.113549.1.1.10',
  { ...OPTIONS, padding: 'pss' },
  der(
    DER.sequence,
    der(DER.context(0), SHA256),
    der(DER.context(1), MGF1_SHA256),
    der(DER.context(2), derNatural(BigInt(SHA256_BYTES))),
  ),
)

/** RFC 5758 section 3.2; the hash is as strong as the curve. */
const ecdsa = (oidEnd: number, hash: string): X509Signature =>
  named(`1.2.840.10045.4.3.${oidEnd}`, { ...OPTIONS, hash })

const BY_TYPE: ReadonlyMap<string, X509Signature> = new Map([
  ['rsa-2048', RSA],
  ['rsa-3072', RSA],
  ['rsa-4096', RSA],
  ['ecdsa-p256', ecdsa(2, 'sha2-256')],
  ['ecdsa-p384', ecdsa(3, 'sha2-384')],
  ['ecdsa-p521', ecdsa(4, 'sha2-512')],
  ['ecdsa-secp256k1', ecdsa(2, 'sha2-256')],
  // RFC 8410 section 3: these have no parameters.
  ['ed25519', named('1.3.101.112', OPTIONS)],
  // RFC 9881 section 2: the same.
  ['ml-dsa-44', named('2.16.840.1.101.3.4.3.17', OPTIONS)],
  ['ml-dsa-65', named('2.16.840.1.101.3.4.3.18', OPTIONS)],
  ['ml-dsa-87', named('2.16.840.1.101.3.4.3.19', OPTIONS)],
])

/** By the name of a type that signs. */
export function x509SignatureOf(typeName: string): X509Signature {
  const found = BY_TYPE.get(typeName)
  if (found === undefined) throw new RangeError(`Keys of type ${typeName} do not sign certificates`)
  return found
}

function named(oid: string, options: SignatureOptions, ...parameters: readonly Buffer[]): X509Signature {
  return { algorithm: der(DER.sequence, derOid(oid), ...parameters), options }
}
