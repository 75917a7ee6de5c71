// The part of DER (X.690 section 10) that keys and signatures on curves need: values of at most 255 bytes. der.ts has
// the rest.

/** Tags (X.690 section 8). */
export const SEQUENCE = 0x30
/** Its content is two's complement, big-endian. */
export const INTEGER = 0x02
/** Its content begins with the number of unused bits. */
export const BIT_STRING = 0x03
/** Its content is the bytes as they are. */
export const OCTET_STRING = 0x04

const LONGEST_SHORT_FORM = 0x7f
const LONG_FORM_OF_ONE_BYTE = 0x81

/** The head of a value: tag and length. `length` is at most 255. */
export function derHead(tag: number, length: number): Buffer {
  return Buffer.from(length > LONGEST_SHORT_FORM ? [tag, LONG_FORM_OF_ONE_BYTE, length] : [tag, length])
}

/**
 * Content of the first value of `from`, and what follows it; undefined for another tag, or a length that is not DER.
 */
export function readDer(from: Buffer, tag: number): { readonly value: Buffer; readonly rest: Buffer } | undefined {
  const [tagged, short, long = 0] = from
  if (tagged !== tag || short === undefined) return undefined
  const isLong = short === LONG_FORM_OF_ONE_BYTE
  // DER writes a length with as few bytes as possible.
  if (isLong ? long <= LONGEST_SHORT_FORM : short > LONGEST_SHORT_FORM) return undefined
  const start = isLong ? 3 : 2
  const end = start + (isLong ? long : short)
  return end > from.length ? undefined : { value: from.subarray(start, end), rest: from.subarray(end) }
}
