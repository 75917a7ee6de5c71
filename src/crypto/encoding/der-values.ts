// As much of DER (X.690 section 10) as keys and signatures on curves need: values of at most 255 bytes.

export const SEQUENCE = 0x30
export const INTEGER = 0x02
export const BIT_STRING = 0x03
export const OCTET_STRING = 0x04

const LONGEST_SHORT_FORM = 0x7f
const LONG_FORM_OF_ONE_BYTE = 0x81

/** Tag and length, which is at most 255. */
export function derHead(tag: number, length: number): Buffer {
  return Buffer.from(length > LONGEST_SHORT_FORM ? [tag, LONG_FORM_OF_ONE_BYTE, length] : [tag, length])
}

/** The first value of `from` and what follows it; undefined where it is none with this tag, or its length no DER. */
export function readDer(from: Buffer, tag: number): { readonly value: Buffer; readonly rest: Buffer } | undefined {
  const [tagged, short, long = 0] = from
  if (tagged !== tag || short === undefined) return undefined
  const isLong = short === LONG_FORM_OF_ONE_BYTE
  // As few bytes as possible.
  if (isLong ? long <= LONGEST_SHORT_FORM : short > LONGEST_SHORT_FORM) return undefined
  const start = isLong ? 3 : 2
  const end = start + (isLong ? long : short)
  return end > from.length ? undefined : { value: from.subarray(start, end), rest: from.subarray(end) }
}
