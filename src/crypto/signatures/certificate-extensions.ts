// The extensions of the certificates in certificate.ts (RFC 5280 section 4.2). Each kind of certificate has a fixed set
// of them. Readers pass over others, unless they are critical.
import { DER, DerError, DerReader, der, derNatural, derOid } from '../encoding/der.ts'
import { SUBJECT_ALT_NAME_OID } from './x509-signatures.ts'

/** An authority signs leaves. A server takes connections, a client makes them. */
export const CERTIFICATE_KINDS = ['authority', 'server', 'client'] as const
/** What a certificate is for. */
export type CertificateKind = (typeof CERTIFICATE_KINDS)[number]

/** What the extensions say. Authorities have no alternative names. */
export type CertificateNames = {
  readonly kind: CertificateKind
  readonly dnsNames: readonly string[]
  readonly uris: readonly string[]
}
/** What the extensions say, as they were read. */
export type ReadExtensions = CertificateNames & {
  readonly authorityKeyId: Buffer
  /** Only an authority has it. */
  readonly subjectKeyId: Buffer | undefined
}

const TRUE = Buffer.of(0xff)
const SUBJECT_KEY_ID_OID = '2.5.29.14'
const KEY_USAGE_OID = '2.5.29.15'
const BASIC_CONSTRAINTS_OID = '2.5.29.19'
const AUTHORITY_KEY_ID_OID = '2.5.29.35'
const EXTENDED_KEY_USAGE_OID = '2.5.29.37'

const extendedUsage = (oid: string): Buffer => der(DER.sequence, derOid(oid))
const bits = (unused: number, byte: number): Buffer => der(DER.bitString, Buffer.of(unused, byte))

/** Values that are the same in all certificates of a kind. */
const LEAF = {
  /** Not an authority, which is the default, so it is left out. */
  [BASIC_CONSTRAINTS_OID]: der(DER.sequence),
  /** digitalSignature: the handshake of TLS 1.3 is signed. */
  [KEY_USAGE_OID]: bits(7, 0x80),
}
const FIXED: Readonly<Record<CertificateKind, Readonly<Record<string, Buffer>>>> = {
  authority: {
    /** An authority, and none below it. */
    [BASIC_CONSTRAINTS_OID]: der(DER.sequence, der(DER.boolean, TRUE), derNatural(0n)),
    /** keyCertSign. */
    [KEY_USAGE_OID]: bits(2, 0x04),
  },
  server: { ...LEAF, [EXTENDED_KEY_USAGE_OID]: extendedUsage('1.3.6.1.5.5.7.3.1') },
  client: { ...LEAF, [EXTENDED_KEY_USAGE_OID]: extendedUsage('1.3.6.1.5.5.7.3.2') },
}
const CRITICAL: readonly string[] = [BASIC_CONSTRAINTS_OID, KEY_USAGE_OID, SUBJECT_ALT_NAME_OID]

/** Extensions of a certificate. `authorityKeyId` names the key that signs. */
export function certificateExtensions({ kind, dnsNames, uris }: CertificateNames, authorityKeyId: Buffer): Buffer {
  const own =
    kind === 'authority'
      ? extension(SUBJECT_KEY_ID_OID, der(DER.octetString, authorityKeyId))
      : extension(SUBJECT_ALT_NAME_OID, altNames(dnsNames, uris))
  return der(
    DER.sequence,
    ...Object.entries(FIXED[kind]).map(([oid, value]) => extension(oid, value)),
    own,
    extension(AUTHORITY_KEY_ID_OID, der(DER.sequence, der(DER.contextPrimitive(0), authorityKeyId))),
  )
}

function extension(oid: string, value: Buffer): Buffer {
  const critical = CRITICAL.includes(oid) ? [der(DER.boolean, TRUE)] : []
  return der(DER.sequence, derOid(oid), ...critical, der(DER.octetString, value))
}

const ALT_DNS = DER.contextPrimitive(2)
const ALT_URI = DER.contextPrimitive(6)

function altNames(dnsNames: readonly string[], uris: readonly string[]): Buffer {
  const named = (tag: number) => (text: string) => der(tag, Buffer.from(text, 'latin1'))
  return der(DER.sequence, ...dnsNames.map(named(ALT_DNS)), ...uris.map(named(ALT_URI)))
}

/** Reads `content`, which is [3] of a certificate. @throws DerError unless they are those of one kind of certificate */
export function readExtensions(content: Buffer): ReadExtensions {
  const values = valuesOf(content)
  const kind = CERTIFICATE_KINDS.find((each) =>
    [BASIC_CONSTRAINTS_OID, KEY_USAGE_OID, EXTENDED_KEY_USAGE_OID].every((oid) => {
      const [is, should] = [values.get(oid), new Map(Object.entries(FIXED[each])).get(oid)]
      return is === undefined || should === undefined ? is === should : is.equals(should)
    }),
  )
  if (kind === undefined) throw new DerError('it is for another use than ours')
  const alternative = values.get(SUBJECT_ALT_NAME_OID)
  if ((alternative === undefined) !== (kind === 'authority')) throw new DerError('its names are none of ours')
  const subject = values.get(SUBJECT_KEY_ID_OID)
  if (kind === 'authority' && subject === undefined) throw new DerError('it does not name its key')
  return {
    kind,
    ...readAltNames(alternative),
    authorityKeyId: readAuthorityKeyId(values.get(AUTHORITY_KEY_ID_OID)),
    subjectKeyId: subject === undefined ? undefined : onlyValue(subject, DER.octetString),
  }
}

/** The known extensions, by their names. */
function valuesOf(content: Buffer): Map<string, Buffer> {
  const reader = new DerReader(onlyValue(content, DER.sequence))
  const values = new Map<string, Buffer>()
  while (!reader.atEnd) {
    const one = reader.sequence()
    const oid = one.oid()
    const critical = one.optional(DER.boolean)
    const value = one.next(DER.octetString)
    one.end()
    if (critical !== undefined && !critical.equals(TRUE)) throw new DerError('a truth value is not in its one form')
    if (values.has(oid)) throw new DerError('it has one extension twice')
    if ((critical !== undefined) !== CRITICAL.includes(oid))
      throw new DerError(critical ? 'it has a critical extension that is not known' : 'an extension is not critical')
    values.set(oid, value)
  }
  return values
}

function readAltNames(value: Buffer | undefined): Pick<CertificateNames, 'dnsNames' | 'uris'> {
  const dnsNames: string[] = []
  const uris: string[] = []
  if (value === undefined) return { dnsNames, uris }
  const reader = new DerReader(onlyValue(value, DER.sequence))
  while (!reader.atEnd) {
    const { tag, content } = reader.value()
    const text = content.toString('latin1')
    const names = tag === ALT_DNS ? dnsNames : tag === ALT_URI ? uris : undefined
    if (names === undefined || !/^[\x21-\x7e]+$/.test(text)) throw new DerError('a name is none of ours')
    names.push(text)
  }
  return { dnsNames, uris }
}

function readAuthorityKeyId(value: Buffer | undefined): Buffer {
  if (value === undefined) throw new DerError('it does not name the key that signed it')
  return onlyValue(onlyValue(value, DER.sequence), DER.contextPrimitive(0))
}

function onlyValue(bytes: Buffer, tag: number): Buffer {
  const reader = new DerReader(bytes)
  const content = reader.next(tag)
  reader.end()
  return content
}
