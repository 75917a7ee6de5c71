// The part of DER (X.690 section 10) in which keys, certificates and requests for them are written. It is read
// strictly: one encoding for one value, lengths that fit, nothing after the end. Nothing here is recursive, so no input
// is too deep.

/** Bytes that are not what should be there. The message continues a sentence and quotes none of them. */
export class DerError extends Error {
  override name = 'DerError'
}

/** Tags of the universal class (X.690 section 8), and how those of a context are made. */
export const DER = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  visibleString: 0x1a,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
  /** [n] around a value, or IMPLICIT in place of the tag of a constructed one. */
  context: (n: number) => 0xa0 | n,
  /** [n] IMPLICIT in place of the tag of a primitive value. */
  contextPrimitive: (n: number) => 0x80 | n,
} as const

const LONG_FORM = 0x80
/** Lengths up to 16 MiB: more than fits into a key or a certificate request. */
const MAX_LENGTH_BYTES = 3
/** A number of 4096 bits with its sign, and some more: the time of arithmetic grows with the square of the length. */
const MAX_NATURAL_BYTES = 520

/** Parts of a tag (X.690 section 8.1.2). */
const CLASS_BITS = 0xc0
const CONSTRUCTED_BIT = 0x20
const NUMBER_BITS = 0x1f
/** The number in the first byte of a tag of several bytes. Nothing that is read here has such a tag. */
const LONG_TAG = 0x1f

/** One value of any kind. Buffers are views of the input. */
export type DerValue = {
  readonly tag: number
  readonly content: Buffer
  /** Tag, length and content. */
  readonly whole: Buffer
}

/** Reads one value after another, from front to back. Returned buffers are views of the input. */
export class DerReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  /** Content of the next value, which must have this tag. @throws DerError if another comes, or none */
  next(tag: number): Buffer {
    if (this.#bytes[this.#at] !== tag) throw new DerError('another kind of value was expected')
    const { from, to } = this.#bounds()
    this.#at = to
    return this.#bytes.subarray(from, to)
  }

  /** Content of the next value if it has this tag, else undefined. @throws DerError */
  optional(tag: number): Buffer | undefined {
    return this.#bytes[this.#at] === tag ? this.next(tag) : undefined
  }

  /** The next value, of any kind. @throws DerError if none comes */
  value(): DerValue {
    const start = this.#at
    const tag = this.#bytes[start]
    if (tag === undefined) throw new DerError('it ends too early')
    if ((tag & NUMBER_BITS) === LONG_TAG) throw new DerError('a tag is longer than any that is known')
    const { from, to } = this.#bounds()
    this.#at = to
    return { tag, content: this.#bytes.subarray(from, to), whole: this.#bytes.subarray(start, to) }
  }

  /** Passes over one value of any kind. @throws DerError */
  skip(): void {
    this.#at = this.#bounds().to
  }

  /** A reader of the next value, which must be a SEQUENCE. @throws DerError */
  sequence(): DerReader {
    return new DerReader(this.next(DER.sequence))
  }

  /** The next value, which must be an INTEGER that is not negative. @throws DerError */
  natural(): bigint {
    const bytes = this.next(DER.integer)
    if (bytes.length > MAX_NATURAL_BYTES) throw new DerError('a number is longer than one of any key')
    const [first = 0x80, second = 0] = bytes
    if (first >= 0x80) throw new DerError('a number is empty or negative')
    if (first === 0 && bytes.length > 1 && second < 0x80) throw new DerError('a number has zeros in front')
    return BigInt(`0x${bytes.toString('hex')}`)
  }

  /** The next value, which must be an OBJECT IDENTIFIER, in dotted form. @throws DerError */
  oid(): string {
    return oidText(this.next(DER.oid))
  }

  /** @throws DerError if anything is left */
  end(): void {
    if (!this.atEnd) throw new DerError('there is more than there should be')
  }

  #bounds(): { from: number; to: number } {
    const bytes = this.#bytes
    const first = bytes[this.#at + 1]
    if (first === undefined) throw new DerError('it ends too early')
    let from = this.#at + 2
    let length = first
    if (first >= LONG_FORM) {
      const count = first - LONG_FORM
      if (count === 0 || count > MAX_LENGTH_BYTES || from + count > bytes.length)
        throw new DerError('a length is wrong')
      length = bytes.readUIntBE(from, count)
      if (length < LONG_FORM || length < 2 ** (8 * (count - 1)))
        throw new DerError('a length is longer than it need be')
      from += count
    }
    if (from + length > bytes.length) throw new DerError('it ends too early')
    return { from, to: from + length }
  }
}

/**
 * Checks values at any depth. Needed where parts are passed on unread: they must be DER too.
 * @throws DerError
 */
export function requireDer(bytes: Buffer): void {
  const left = [bytes]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const reader = new DerReader(next)
    while (!reader.atEnd) {
      const { tag, content } = reader.value()
      requireForm(tag)
      if ((tag & CONSTRUCTED_BIT) !== 0) left.push(content)
    }
  }
}

/** Among universal kinds only SEQUENCE and SET are constructed (sections 8.9 to 8.12, 10.2). */
function requireForm(tag: number): void {
  if ((tag & CLASS_BITS) !== 0) return
  const number = tag & NUMBER_BITS
  const isConstructed = number === (DER.sequence & NUMBER_BITS) || number === (DER.set & NUMBER_BITS)
  if (number === 0 || isConstructed !== ((tag & CONSTRUCTED_BIT) !== 0))
    throw new DerError('a value has a form that its kind does not have')
}

const MAX_OID_BYTES = 32

function oidText(bytes: Buffer): string {
  if (bytes.length === 0 || bytes.length > MAX_OID_BYTES || (bytes.at(-1) ?? 0) >= 0x80)
    throw new DerError('an object identifier is wrong')
  const arcs: number[] = []
  let arc = 0
  let isFirst = true
  for (const byte of bytes) {
    // Section 8.19.2: a number has no leading zeros.
    if (isFirst && byte === 0x80) throw new DerError('an object identifier has zeros in front of a number')
    isFirst = byte < 0x80
    arc = arc * 128 + (byte & 0x7f)
    if (byte >= 0x80) continue
    arcs.push(arc)
    arc = 0
  }
  const [both = 0, ...rest] = arcs
  const top = Math.min(2, Math.floor(both / 40))
  return [top, both - 40 * top, ...rest].join('.')
}

/** A value: tag, length, then the parts one behind the other. */
export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const lengthBytes: number[] = []
  if (length >= LONG_FORM) for (let rest = length; rest > 0; rest >>>= 8) lengthBytes.unshift(rest & 0xff)
  const head = [tag, ...(length < LONG_FORM ? [length] : [LONG_FORM | lengthBytes.length, ...lengthBytes])]
  // Not `concat`: its result may share memory with others (threats N-09).
  const bytes = Buffer.from(new ArrayBuffer(head.length + length))
  bytes.set(head)
  let at = head.length
  for (const part of parts) at += part.copy(bytes, at)
  return bytes
}

/** An INTEGER that is not negative. */
export function derNatural(value: bigint): Buffer {
  return der(DER.integer, naturalBytes(value))
}

/** Big-endian, with a zero in front if the first bit would be taken for a sign. */
function naturalBytes(value: bigint): Buffer {
  const hex = value.toString(16)
  const even = hex.length % 2 === 0 ? hex : `0${hex}`
  return Buffer.from(Number.parseInt(even.slice(0, 2), 16) >= 0x80 ? `00${even}` : even, 'hex')
}

/** An OBJECT IDENTIFIER, from its dotted form. */
export function derOid(text: string): Buffer {
  const [top = 0, second = 0, ...rest] = text.split('.').map(Number)
  return der(DER.oid, Buffer.from([40 * top + second, ...rest].flatMap(arcBytes)))
}

function arcBytes(arc: number): number[] {
  const bytes = [arc % 128]
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128))
  return bytes
}
