// Reads certificate requests (PKCS #10, RFC 2986) as templates for new ones, and writes them. The public key and the
// signature of a template are replaced by others. They must have their form, and are not looked at otherwise.
import { isUtf8 } from 'node:buffer'
import { DER, DerError, DerReader, type DerValue, der, derNatural, requireDer } from '../encoding/der.ts'
import { SUBJECT_ALT_NAME_OID } from './x509-signatures.ts'

/** What a request asks for, apart from its key. Buffers are DER, and views of the input. */
export type RequestTemplate = {
  /** Name (RFC 5280 section 4.1.2.4). */
  readonly subject: Buffer
  /** Each is an Attribute (RFC 2986 section 4.1); one of them holds the extensions that are asked for. */
  readonly attributes: readonly Buffer[]
}

/** Used when a caller sends no template: an empty subject, no extensions. */
export const EMPTY_TEMPLATE: RequestTemplate = { subject: der(DER.sequence), attributes: [] }

/** RFC 2985 section 5.4.2. Authorities of Microsoft have a name of their own for it, and others read both. */
const EXTENSION_REQUEST_OIDS: readonly string[] = ['1.2.840.113549.1.9.14', '1.3.6.1.4.1.311.2.1.14']

/** Reads a request in DER. @throws DerError */
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
  // Some programs leave the attributes out if there are none.
  return { subject, attributes: attributes === undefined ? [] : readAttributes(attributes) }
}

/** The part of a request that is signed. `spki` is SubjectPublicKeyInfo in DER. */
export function requestInfo(spki: Buffer, { subject, attributes }: RequestTemplate): Buffer {
  // X.690 section 11.6: members of a SET are sorted, which not every program does.
  const sorted = attributes.toSorted(Buffer.compare)
  return der(DER.sequence, derNatural(0n), subject, spki, der(DER.context(0), ...sorted))
}

/** Checks an algorithm followed by bits: so ends a request, and so is a public key written. */
function requireAlgorithmAndBits(reader: DerReader): void {
  reader.sequence().oid()
  const bits = reader.next(DER.bitString)
  if (bits[0] !== 0) throw new DerError('a public key or a signature is not of whole bytes')
  reader.end()
}

/** Checks the next value, a Name, and returns it unchanged: some programs compare names byte by byte. */
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

/** Checks strings of kinds that read as text. A zero byte would end one for some readers, and not for others. */
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
      // With two of them, two programs could look at different ones.
      if (hasExtensions) throw new DerError('it asks for extensions twice')
      hasExtensions = true
      requireExtensions(values.sequence())
      values.end()
    }
    attributes.push(whole)
  }
  return attributes
}

/** Checks Extensions (RFC 5280 section 4.1). */
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

/** Checks an optional BOOLEAN. DER leaves a default of false out, but some programs write it. */
function requireBoolean(content: Buffer | undefined): void {
  if (content === undefined) return
  if (content.length !== 1 || (content[0] !== 0x00 && content[0] !== 0xff))
    throw new DerError('a truth value is neither true nor false')
}

/** Checks of the content of a GeneralName, by its tag (RFC 5280 section 4.2.1.6). */
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

/** True for ASCII without control characters: a zero byte would end a name for some readers, and not for others. */
function isVisible(content: Buffer): boolean {
  return content.length > 0 && isAscii(content)
}
