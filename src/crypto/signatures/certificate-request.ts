// Certificate requests (PKCS #10, RFC 2986): read as templates, for what others want to be certified, and written. Of a
// template the public key and the signature say nothing here, since others take their place: they have to have their
// form, and are not looked at otherwise.
import { isUtf8 } from 'node:buffer'
import { DER, DerError, DerReader, type DerValue, der, derNatural, requireDer } from '../encoding/der.ts'

/** What is asked for, besides for which key. Buffers are DER, views of what was read. */
export type RequestTemplate = {
  /** Name (RFC 5280 section 4.1.2.4). */
  readonly subject: Buffer
  /** Attribute (RFC 2986 section 4.1) each; the extensions that are asked for are in one of them. */
  readonly attributes: readonly Buffer[]
}

export const EMPTY_TEMPLATE: RequestTemplate = { subject: der(DER.sequence), attributes: [] }

/** RFC 2985 section 5.4.2; authorities of Microsoft have a name of their own for it, and others read both. */
const EXTENSION_REQUEST_OIDS: readonly string[] = ['1.2.840.113549.1.9.14', '1.3.6.1.4.1.311.2.1.14']
/** RFC 5280 section 4.2.1.6. */
const SUBJECT_ALT_NAME_OID = '2.5.29.17'

/** Of a request in DER. @throws DerError */
export function readRequestTemplate(bytes: Buffer): RequestTemplate {
  requireDer(bytes)
  const whole = new DerReader(bytes)
  const request = whole.sequence()
  whole.end()
  const info = request.sequence()
  requireAlgorithmAndBits(request)
  if (info.natural() !== 0n) throw new DerError('its version is not known')
  const subject = requireName(info)
  requireAlgorithmAndBits(info.sequence())
  const attributes = info.optional(DER.context(0))
  info.end()
  // Some programs leave them out where there are none.
  return { subject, attributes: attributes === undefined ? [] : readAttributes(attributes) }
}

/** What is signed of a request. `spki`: SubjectPublicKeyInfo in DER. */
export function requestInfo(spki: Buffer, { subject, attributes }: RequestTemplate): Buffer {
  // X.690 section 11.6: in a set they have an order, which not every program keeps to.
  const sorted = attributes.toSorted(Buffer.compare)
  return der(DER.sequence, derNatural(0n), subject, spki, der(DER.context(0), ...sorted))
}

/** `algorithm`: AlgorithmIdentifier in DER. */
export function signedRequest(info: Buffer, algorithm: Buffer, signature: Buffer): Buffer {
  return der(DER.sequence, info, algorithm, der(DER.bitString, Buffer.of(0), signature))
}

/** The end of a request, and the whole of a public key. */
function requireAlgorithmAndBits(reader: DerReader): void {
  reader.sequence().oid()
  const bits = reader.next(DER.bitString)
  if (bits[0] !== 0) throw new DerError('a public key or a signature is not of whole bytes')
  reader.end()
}

/** Gives the next value, a Name, as it is: names are compared byte by byte in places. */
function requireName(reader: DerReader): Buffer {
  const { tag, content, whole } = reader.value()
  if (tag !== DER.sequence) throw new DerError('its subject is no name')
  const names = new DerReader(content)
  while (!names.atEnd) {
    const parts = new DerReader(names.next(DER.set))
    do {
      const part = parts.sequence()
      part.oid()
      requireText(part.value())
      part.end()
    } while (!parts.atEnd)
  }
  return whole
}

const WIDE_CHARACTER_BYTES = 2

/** Of strings, what reads as text is one: a zero byte ends it for some readers, and not for others. */
function requireText({ tag, content }: DerValue): void {
  const isText = TEXTS.get(tag)
  if (isText !== undefined && !isText(content)) throw new DerError('a text of the subject is none')
}

const hasNoControl = (text: Buffer): boolean => text.every((byte) => byte >= 0x20 && byte !== 0x7f)
const isAscii = (text: Buffer): boolean => text.every((byte) => byte >= 0x20 && byte <= 0x7e)
const TEXTS: ReadonlyMap<number, (content: Buffer) => boolean> = new Map([
  [DER.utf8String, (text: Buffer) => isUtf8(text) && hasNoControl(text)],
  [DER.numericString, isAscii],
  [DER.printableString, isAscii],
  [DER.teletexString, hasNoControl],
  [DER.ia5String, isAscii],
  [DER.visibleString, isAscii],
  [DER.bmpString, isWideText],
])

function isWideText(text: Buffer): boolean {
  if (text.length % WIDE_CHARACTER_BYTES !== 0) return false
  for (let at = 0; at < text.length; at += WIDE_CHARACTER_BYTES) if (text.readUInt16BE(at) < 0x20) return false
  return true
}

function readAttributes(content: Buffer): Buffer[] {
  const reader = new DerReader(content)
  const attributes: Buffer[] = []
  let hasExtensions = false
  while (!reader.atEnd) {
    const { tag, content: inner, whole } = reader.value()
    if (tag !== DER.sequence) throw new DerError('an attribute is none')
    const attribute = new DerReader(inner)
    const oid = attribute.oid()
    const values = new DerReader(attribute.next(DER.set))
    attribute.end()
    if (values.atEnd) throw new DerError('an attribute has no value')
    if (EXTENSION_REQUEST_OIDS.includes(oid)) {
      // Of two of them one would be looked at here and the other there.
      if (hasExtensions) throw new DerError('it asks for extensions twice')
      hasExtensions = true
      requireExtensions(values.sequence())
      values.end()
    }
    attributes.push(whole)
  }
  return attributes
}

/** RFC 5280 section 4.1. */
function requireExtensions(extensions: DerReader): void {
  const known = new Set<string>()
  while (!extensions.atEnd) {
    const extension = extensions.sequence()
    const oid = extension.oid()
    if (known.has(oid)) throw new DerError('it asks for one extension twice')
    known.add(oid)
    requireBoolean(extension.optional(DER.boolean))
    const value = extension.next(DER.octetString)
    extension.end()
    if (oid === SUBJECT_ALT_NAME_OID) requireAltNames(value)
  }
}

/** Not sent where it is false, but some programs send that too. */
function requireBoolean(content: Buffer | undefined): void {
  if (content === undefined) return
  if (content.length !== 1 || (content[0] !== 0x00 && content[0] !== 0xff))
    throw new DerError('a truth value is neither true nor false')
}

/** Name, and what its content has to be, by its tag: GeneralName (RFC 5280 section 4.2.1.6). */
const ALT_NAMES: ReadonlyMap<number, (content: Buffer) => boolean> = new Map([
  [DER.context(0), () => true],
  [DER.contextPrimitive(1), isVisible],
  [DER.contextPrimitive(2), isVisible],
  [DER.context(3), () => true],
  [DER.context(4), () => true],
  [DER.context(5), () => true],
  [DER.contextPrimitive(6), isVisible],
  [DER.contextPrimitive(7), ({ length }) => length === 4 || length === 16],
  [DER.contextPrimitive(8), ({ length }) => length > 0],
])

function requireAltNames(value: Buffer): void {
  requireDer(value)
  const whole = new DerReader(value)
  const names = whole.sequence()
  whole.end()
  do {
    const { tag, content } = names.value()
    if (ALT_NAMES.get(tag)?.(content) !== true) throw new DerError('an alternative name is of no kind that there is')
  } while (!names.atEnd)
}

/** ASCII, and no control character: a zero byte ends a name for some readers, and not for others. */
function isVisible(content: Buffer): boolean {
  return content.length > 0 && isAscii(content)
}
