// DER (X.690 section 10), as much of it as keys and certificate requests are written in. Read strictly: one encoding
// for one value, lengths that fit, nothing behind the end. Nothing here is recursive, so no input is too deep.

/** Bytes that are not what should be there: says where, never what. */
export class DerError extends Error {
  override name = 'DerError'
}

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
  visibleString: 0x1a,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
  /** [n] of a constructed value. */
  context: (n: number) => 0xa0 | n,
  /** [n] IMPLICIT of a primitive value. */
  contextPrimitive: (n: number) => 0x80 | n,
} as const

const LONG_FORM = 0x80
/** 16 MiB: more than a request holds. */
const MAX_LENGTH_BYTES = 3
/** A number of 4096 bits with its sign, and some more: arithmetic takes a time that grows with the square. */
const MAX_NATURAL_BYTES = 520

/** Of a tag. */
const CLASS_BITS = 0xc0
const CONSTRUCTED_BIT = 0x20
const NUMBER_BITS = 0x1f
/** A tag of several bytes begins with this number: nothing that is read here has one. */
const LONG_TAG = 0x1f

/** One value; buffers are views of the input. */
export type DerValue = {
  readonly tag: number
  readonly content: Buffer
  /** Tag, length and content. */
  readonly whole: Buffer
}

/** Reads one value after another; what it gives are views of the input. */
export class DerReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  /** Content of the value with this tag. @throws DerError where another comes, or none */
  next(tag: number): Buffer {
    if (this.#bytes[this.#at] !== tag) throw new DerError('another kind of value was expected')
    const { from, to } = this.#bounds()
    this.#at = to
    return this.#bytes.subarray(from, to)
  }

  /** The same where it comes, else undefined. @throws DerError */
  optional(tag: number): Buffer | undefined {
    return this.#bytes[this.#at] === tag ? this.next(tag) : undefined
  }

  /** Of whatever kind. @throws DerError where none comes */
  value(): DerValue {
    const start = this.#at
    const tag = this.#bytes[start]
    if (tag === undefined) throw new DerError('it ends too early')
    if ((tag & NUMBER_BITS) === LONG_TAG) throw new DerError('a tag is longer than any that is known')
    const { from, to } = this.#bounds()
    this.#at = to
    return { tag, content: this.#bytes.subarray(from, to), whole: this.#bytes.subarray(start, to) }
  }

  /** Passes over one value of whatever kind. @throws DerError */
  skip(): void {
    this.#at = this.#bounds().to
  }

  /** @throws DerError */
  sequence(): DerReader {
    return new DerReader(this.next(DER.sequence))
  }

  /** Of an integer that is not negative. @throws DerError */
  natural(): bigint {
    const bytes = this.next(DER.integer)
    if (bytes.length > MAX_NATURAL_BYTES) throw new DerError('a number is longer than one of any key')
    const [first = 0x80, second = 0] = bytes
    if (first >= 0x80) throw new DerError('a number is empty or negative')
    if (first === 0 && bytes.length > 1 && second < 0x80) throw new DerError('a number has zeros in front')
    return BigInt(`0x${bytes.toString('hex')}`)
  }

  /** Dotted. @throws DerError */
  oid(): string {
    return oidText(this.next(DER.oid))
  }

  /** @throws DerError where something is left */
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
 * Looks at everything that stands inside of values, at any depth: what is passed on unread is DER too.
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

/** Of universal kinds SEQUENCE and SET consist of others, and nothing else does (sections 8.9 to 8.12, 10.2). */
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
    // Section 8.19.2.
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
  // Not `concat`: what it gives may share memory with others (threats N-09).
  const bytes = Buffer.from(new ArrayBuffer(head.length + length))
  bytes.set(head)
  let at = head.length
  for (const part of parts) at += part.copy(bytes, at)
  return bytes
}

/** Of an integer that is not negative. */
export function derNatural(value: bigint): Buffer {
  return der(DER.integer, naturalBytes(value))
}

/** Big-endian, with a zero in front where the first bit would be a sign. */
function naturalBytes(value: bigint): Buffer {
  const hex = value.toString(16)
  const even = hex.length % 2 === 0 ? hex : `0${hex}`
  return Buffer.from(Number.parseInt(even.slice(0, 2), 16) >= 0x80 ? `00${even}` : even, 'hex')
}

export function derOid(text: string): Buffer {
  const [top = 0, second = 0, ...rest] = text.split('.').map(Number)
  return der(DER.oid, Buffer.from([40 * top + second, ...rest].flatMap(arcBytes)))
}

function arcBytes(arc: number): number[] {
  const bytes = [arc % 128]
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128))
  return bytes
}
