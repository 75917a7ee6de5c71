// Reads PKCS #8 (RFC 5208, RFC 5958) of callers into its parts. So what is stored is written by this program alone,
// whatever form it came in. Two forms are read beyond the usual ones, which OpenSSL refuses or takes for another kind:
// ed25519 keys in the container of other curves (NSS writes them so), and RSA keys under the name of RSASSA-PSS.
import { DER, DerError, DerReader } from '../encoding/der.ts'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import type { Curve } from './ec-curves.ts'
import { CURVES_BY_OID, EC_OID } from './ec-parts.ts'
import { ED25519_BYTES, ED25519_OID, x25519PublicBytes } from './ed25519-parts.ts'

/** The parts of a private key, not yet checked against each other. Buffers are views of the input. */
export type PrivateKeyInfo =
  | { readonly kind: 'rsa'; readonly pkcs1: Buffer }
  | { readonly kind: 'ec'; readonly curve: Curve; readonly scalar: Buffer; readonly point: Buffer | undefined }
  | { readonly kind: 'ed25519'; readonly seed: Buffer; readonly publicKey: Buffer | undefined }
  /** A kind that is read no further. */
  | { readonly kind: 'other'; readonly oid: string }

const RSA_OIDS = ['1.2.840.113549.1.1.1', '1.2.840.113549.1.1.10']
/** Ed25519 named as a curve: by the OID of X25519 (RFC 8410), which some programs use for it, and by that of NSS. */
const ED25519_CURVE_OIDS = ['1.3.101.110', '1.3.6.1.4.1.11591.15.1']

/** Reads a whole PKCS #8. @throws InvalidKeyMaterial that says what PKCS #8 is, and quotes nothing */
export function readPrivateKeyInfo(bytes: Buffer): PrivateKeyInfo {
  try {
    return readWhole(bytes)
  } catch (cause) {
    if (!(cause instanceof DerError)) throw cause
    throw new InvalidKeyMaterial(`It is not a private key in PKCS #8 (DER, not encrypted): ${hint(bytes, cause)}`)
  }
}

/** Why it cannot be read; names the most frequent mistake of clients. */
function hint(bytes: Buffer, cause: DerError): string {
  if (bytes.subarray(0, 5).equals(Buffer.from('-----'))) return 'it is PEM, of which only the base64 inside counts'
  return cause.message
}

function readWhole(bytes: Buffer): PrivateKeyInfo {
  const whole = new DerReader(bytes)
  const info = whole.sequence()
  whole.end()
  const version = info.natural()
  if (version > 1n) throw new DerError('its version is not known')
  const algorithm = info.sequence()
  const oid = algorithm.oid()
  const inner = info.next(DER.octetString)
  // Attributes say nothing about the key.
  info.optional(DER.context(0))
  const publicKey = optionalBits(info.optional(DER.contextPrimitive(1)))
  info.end()
  if (RSA_OIDS.includes(oid)) return { kind: 'rsa', pkcs1: inner }
  if (oid === EC_OID) return readEc(algorithm, inner)
  if (oid === ED25519_OID) return readEd25519(algorithm, inner, publicKey)
  return { kind: 'other', oid }
}

/** Reads the inner form of RFC 8410 section 7. */
function readEd25519(algorithm: DerReader, inner: Buffer, publicKey: Buffer | undefined): PrivateKeyInfo {
  algorithm.end()
  const reader = new DerReader(inner)
  const seed = reader.next(DER.octetString)
  reader.end()
  return { kind: 'ed25519', seed, publicKey }
}

/** Reads the inner form of RFC 5915 section 3. The curve is named outside it, inside it, or both. */
function readEc(algorithm: DerReader, inner: Buffer): PrivateKeyInfo {
  const outside = algorithm.atEnd ? undefined : algorithm.oid()
  algorithm.end()
  const reader = new DerReader(inner)
  const key = reader.sequence()
  reader.end()
  if (key.natural() !== 1n) throw new DerError('the version of the key on a curve is not 1')
  const scalar = key.next(DER.octetString)
  const inside = curveInside(key.optional(DER.context(0)))
  const point = optionalBits(contentOf(key.optional(DER.context(1)), DER.bitString))
  key.end()
  const oid = outside ?? inside
  if (oid === undefined) throw new DerError('no curve is named')
  if (inside !== undefined && inside !== oid) throw new DerError('two curves are named')
  if (ED25519_CURVE_OIDS.includes(oid)) return ed25519OnCurve(scalar, point)
  const curve = CURVES_BY_OID.get(oid)
  return curve === undefined ? { kind: 'other', oid } : { kind: 'ec', curve, scalar, point }
}

function ed25519OnCurve(seed: Buffer, point: Buffer | undefined): PrivateKeyInfo {
  // NSS puts 0x40 before the public half, as before a point of its own form.
  const publicKey = point?.length === ED25519_BYTES + 1 && point[0] === 0x40 ? point.subarray(1) : point
  // NSS computes that half as for a key of X25519. It belongs to the seed too, but no program uses it: it is dropped.
  const isOther = publicKey !== undefined && seed.length === ED25519_BYTES && x25519PublicBytes(seed).equals(publicKey)
  return { kind: 'ed25519', seed, publicKey: isOther ? undefined : publicKey }
}

function curveInside(parameters: Buffer | undefined): string | undefined {
  if (parameters === undefined) return undefined
  const reader = new DerReader(parameters)
  const oid = reader.oid()
  reader.end()
  return oid
}

function contentOf(wrapper: Buffer | undefined, tag: number): Buffer | undefined {
  if (wrapper === undefined) return undefined
  const reader = new DerReader(wrapper)
  const content = reader.next(tag)
  reader.end()
  return content
}

/** Content of a BIT STRING of whole bytes. */
function optionalBits(content: Buffer | undefined): Buffer | undefined {
  if (content === undefined) return undefined
  if (content[0] !== 0) throw new DerError('its public half is not of whole bytes')
  return content.subarray(1)
}
