// Certificates (X.509 version 3, RFC 5280) in the one form that clusters of a set use among themselves: an authority,
// and leaves below it for one end of a connection each. All keys are on P-256, all signatures are ECDSA with SHA-256.
// docs/decisions/0021-certificates-of-a-set.md says why a library does not do this.
//
// A leaf has no subject: its alternative names say whose it is. They are critical for that reason (section 4.2.1.6).
import { type KeyObject, sign, verify } from 'node:crypto'
import { DER, DerError, DerReader, der, derNatural, derOid, requireDer } from '../encoding/der.ts'
import { P256 } from '../forms/ec-curves.ts'
import { loadSpki } from '../forms/public-keys.ts'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import { sha256 } from '../primitives/digest.ts'
import { type CertificateNames, certificateExtensions, readExtensions } from './certificate-extensions.ts'
import { derTime, readTime } from './certificate-time.ts'
import { withSignature, x509Signature } from './x509-signatures.ts'

/** What a certificate says. Times are whole seconds, in milliseconds since 1970. */
export type CertificateFacts = CertificateNames & {
  /** 16 bytes whose first bits are 0 and 1: a positive number, always of one length. */
  readonly serial: Buffer
  /** Common name of the authority that signed; an authority signs itself. */
  readonly issuer: string
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** The public key of the holder: SubjectPublicKeyInfo, the point uncompressed. */
  readonly spki: Buffer
}

/** A certificate that was read. Its signature was not checked. */
export type ReadCertificate = CertificateFacts & {
  /** The part that is signed. */
  readonly info: Buffer
  readonly signature: Buffer
  /** Which key signed it, and which key an authority signs with; its leaves are found by it. */
  readonly authorityKeyId: Buffer
}

/** Signs the part of a certificate that is signed; the answer is DER. A simulation hands in one that repeats. */
export type CertificateSigner = (key: KeyObject, info: Buffer) => Buffer

/** Bytes of a serial number. */
export const SERIAL_BYTES = 16
/** Longest certificate that is read. One with the longest names has some 1,400 bytes. */
export const MAX_CERTIFICATE_BYTES = 2_048
/** Longest common name (RFC 5280 appendix A.1, ub-common-name). */
const MAX_COMMON_NAME = 64
const KEY_ID_BYTES = 20
const VERSION_3 = der(DER.context(0), derNatural(2n))
const COMMON_NAME = derOid('2.5.4.3')
const NO_NAME = der(DER.sequence)
const P256_POINT_BYTES = 64
/** What stands before the two numbers of a point in the one form of a key on P-256: by name, and uncompressed. */
const P256_KEY = der(
  DER.sequence,
  P256.algorithmIdentifier,
  der(DER.bitString, Buffer.from([0, 0x04]), Buffer.alloc(P256_POINT_BYTES)),
).subarray(0, -P256_POINT_BYTES)
const { algorithm: ECDSA_WITH_SHA256 } = x509Signature('1.2.840.10045.4.3.2')

/** ECDSA with SHA-256 by the runtime, which draws a number for each signature: no two are the same. */
export const signCertificate: CertificateSigner = (key, info) => sign('sha256', info, key)

/** Makes a certificate. `authority` is the key that signs, and `authoritySpki` its public half. */
export function writeCertificate(
  facts: CertificateFacts,
  authority: KeyObject,
  authoritySpki: Buffer,
  signer: CertificateSigner = signCertificate,
): Buffer {
  const info = der(
    DER.sequence,
    VERSION_3,
    der(DER.integer, facts.serial),
    ECDSA_WITH_SHA256,
    nameOf(facts.issuer),
    der(DER.sequence, derTime(facts.notBeforeMs), derTime(facts.notAfterMs)),
    facts.kind === 'authority' ? nameOf(facts.issuer) : NO_NAME,
    facts.spki,
    der(DER.context(3), certificateExtensions(facts, keyIdOf(authoritySpki))),
  )
  return withSignature(info, ECDSA_WITH_SHA256, signer(authority, info))
}

/**
 * Reads a certificate of this form, and takes no other: with a further critical extension, a subject of its own, or a
 * key on another curve it is refused. Buffers are views of the input.
 * @throws DerError whose message continues a sentence
 */
export function readCertificate(bytes: Buffer): ReadCertificate {
  if (bytes.length > MAX_CERTIFICATE_BYTES) throw new DerError(`it has more than ${MAX_CERTIFICATE_BYTES} bytes`)
  requireDer(bytes)
  const whole = new DerReader(bytes)
  const parts = whole.sequence()
  whole.end()
  const { tag, content, whole: info } = parts.value()
  if (tag !== DER.sequence) throw new DerError('another kind of value was expected')
  requireAlgorithm(parts)
  const signature = wholeBits(parts)
  parts.end()
  return { ...readInfo(new DerReader(content)), info, signature }
}

function readInfo(reader: DerReader): Omit<ReadCertificate, 'info' | 'signature'> {
  if (!reader.value().whole.equals(VERSION_3)) throw new DerError('its version is not 3')
  const serial = reader.next(DER.integer)
  if (serial.length !== SERIAL_BYTES || ((serial[0] ?? 0) & 0xc0) !== 0x40)
    throw new DerError('its serial number is none of ours')
  requireAlgorithm(reader)
  const issuer = readName(reader) ?? fault('its issuer has no name')
  const times = reader.sequence()
  const [notBeforeMs, notAfterMs] = [readTime(times), readTime(times)]
  times.end()
  if (notAfterMs < notBeforeMs) throw new DerError('it ends before it begins')
  const subject = readName(reader)
  const spki = readSpki(reader)
  const { authorityKeyId, subjectKeyId, ...names } = readExtensions(reader.next(DER.context(3)))
  reader.end()
  if (subject !== (names.kind === 'authority' ? issuer : undefined)) throw new DerError('its subject is none of ours')
  if (names.kind === 'authority' && !(subjectKeyId?.equals(keyIdOf(spki)) && authorityKeyId.equals(subjectKeyId)))
    throw new DerError('it names another key than its own')
  return { ...names, serial, issuer, notBeforeMs, notAfterMs, spki, authorityKeyId }
}

/**
 * True if the authority made this certificate: by name, by key, by signature. Times are not looked at, since each peer
 * judges them by a clock of its own.
 */
export function isIssuedBy(certificate: ReadCertificate, authority: ReadCertificate): boolean {
  if (authority.kind !== 'authority' || certificate.issuer !== authority.issuer) return false
  if (!certificate.authorityKeyId.equals(keyIdOf(authority.spki))) return false
  return verify('sha256', certificate.info, loadSpki(P256.name, authority.spki), certificate.signature)
}

/** SHA-256 of a whole certificate: the short name of exactly this one. */
export function certificateFingerprint(certificate: Buffer): Buffer {
  return sha256(certificate)
}

/** RFC 7093 section 2, method 1: of the bits of the public key, without the algorithm. */
function keyIdOf(spki: Buffer): Buffer {
  const parts = new DerReader(spki).sequence()
  parts.skip()
  return sha256(wholeBits(parts)).subarray(0, KEY_ID_BYTES)
}

function nameOf(commonName: string): Buffer {
  const text = der(DER.utf8String, Buffer.from(commonName))
  return der(DER.sequence, der(DER.set, der(DER.sequence, COMMON_NAME, text)))
}

/** A Name that is one common name in visible ASCII; undefined for the empty one. */
function readName(reader: DerReader): string | undefined {
  const { tag, content, whole } = reader.value()
  if (tag !== DER.sequence) throw new DerError('a name is none')
  if (content.length === 0) return undefined
  const text = content.subarray(nameOf('').length - NO_NAME.length).toString('latin1')
  const isOurs = text.length <= MAX_COMMON_NAME && /^[\x21-\x7e]+$/.test(text) && nameOf(text).equals(whole)
  return isOurs ? text : fault('a name is none of ours')
}

function readSpki(reader: DerReader): Buffer {
  const { whole } = reader.value()
  if (!isOnP256(whole)) throw new DerError('its public key is not on P-256')
  return whole
}

/** Loading it shows that the point is on the curve. */
function isOnP256(spki: Buffer): boolean {
  if (spki.length !== P256_KEY.length + P256_POINT_BYTES) return false
  if (!spki.subarray(0, P256_KEY.length).equals(P256_KEY)) return false
  try {
    loadSpki(P256.name, spki)
    return true
  } catch (cause) {
    if (cause instanceof InvalidKeyMaterial) return false
    throw cause
  }
}

function requireAlgorithm(reader: DerReader): void {
  if (!reader.value().whole.equals(ECDSA_WITH_SHA256)) throw new DerError('it is not signed by ECDSA with SHA-256')
}

function wholeBits(reader: DerReader): Buffer {
  const bits = reader.next(DER.bitString)
  if (bits[0] !== 0) throw new DerError('bits are not of whole bytes')
  return bits.subarray(1)
}

function fault(what: string): never {
  throw new DerError(what)
}
