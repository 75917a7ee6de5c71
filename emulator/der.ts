// The few forms of DER (X.690) that a certificate needs. Each function returns a whole value: tag, length, content.

/** Returns one value: tag, length, content. */
function encode(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content), content])
}

function lengthOf(content: Buffer): Buffer {
  const size = content.length
  if (size < 0x80) return Buffer.from([size])
  if (size < 0x100) return Buffer.from([0x81, size])
  return Buffer.from([0x82, size >> 8, size & 0xff])
}

/** SEQUENCE of values. */
export function sequence(...parts: readonly Buffer[]): Buffer {
  return encode(0x30, Buffer.concat(parts))
}

/** SET of values; with more than one the caller sorts them, as DER demands. */
export function set(...parts: readonly Buffer[]): Buffer {
  return encode(0x31, Buffer.concat(parts))
}

/** INTEGER of a positive number, big-endian: a leading bit that is set would make it negative. */
export function integer(bytes: Buffer): Buffer {
  const negative = ((bytes[0] ?? 0) & 0x80) !== 0
  return encode(0x02, negative ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes)
}

/** BOOLEAN: DER writes true as 0xff. */
export function boolean(value: boolean): Buffer {
  return encode(0x01, Buffer.from([value ? 0xff : 0]))
}

/** BIT STRING of whole bytes, or of `unused` bits less. */
export function bitString(bytes: Buffer, unused = 0): Buffer {
  return encode(0x03, Buffer.concat([Buffer.from([unused]), bytes]))
}

/** OCTET STRING. */
export function octetString(bytes: Buffer): Buffer {
  return encode(0x04, bytes)
}

/** NULL. */
export function nothing(): Buffer {
  return encode(0x05, Buffer.alloc(0))
}

/** UTF8String. */
export function utf8String(text: string): Buffer {
  return encode(0x0c, Buffer.from(text))
}

/** GeneralizedTime in whole seconds, as RFC 5280 section 4.1.2.5.2 demands. */
export function generalizedTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')
  return encode(0x18, Buffer.from(`${digits}Z`))
}

/** Time of a certificate: UTCTime, with years of two digits, before 2050 (RFC 5280 section 4.1.2.5). */
export function time(ms: number): Buffer {
  const whole = generalizedTime(ms)
  if (new Date(ms).getUTCFullYear() >= 2050) return whole
  return encode(0x17, whole.subarray(4))
}

/** Context tag `[number]`, around other values or, if `primitive`, around bytes. */
export function tagged(number: number, content: Buffer, { primitive = false } = {}): Buffer {
  return encode((primitive ? 0x80 : 0xa0) | number, content)
}

/** OBJECT IDENTIFIER of a dotted text, such as `1.2.840.10045.2.1`. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return encode(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const digits = [value & 0x7f]
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80)
  return digits
}
