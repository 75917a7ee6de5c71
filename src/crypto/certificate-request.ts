// Certificate requests (PKCS #10, RFC 2986): read as templates, for what others want to be certified, and written. Of a
// template the public key and the signature say nothing here, since others take their place: they have to have their
// form, and are not looked at otherwise.
import { DER, DerError, DerReader, der, derNatural, requireDer } from './der.ts'

/** What is asked for, besides for which key. Buffers are DER, views of what was read. */
export type RequestTemplate = {
  /** Name (RFC 5280 section 4.1.2.4). */
  readonly subject: Buffer
  /** Attribute (RFC 2986 section 4.1) each; the extensions that are asked for are in one of them. */
  readonly attributes: readonly Buffer[]
}

export const EMPTY_TEMPLATE: RequestTemplate = { subject: der(DER.sequence), attributes: [] }

/** RFC 2985 section 5.4.2. */
const EXTENSION_REQUEST_OID = '1.2.840.113549.1.9.14'
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
      part.value()
      part.end()
    } while (!parts.atEnd)
  }
  return whole
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
    if (oid === EXTENSION_REQUEST_OID) {
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
  return content.length > 0 && content.every((byte) => byte >= 0x20 && byte <= 0x7e)
}
