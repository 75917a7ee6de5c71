// Hexadecimal text, decoded exactly: Node's own decoder stops silently at the first pair that it does not know.

/** The text is not hexadecimal; `offset` is where decoding stopped. */
export class HexError extends Error {
  override name = 'HexError'
  readonly offset: number
  constructor(offset: number) {
    super(`illegal hexadecimal data at input byte ${offset}`)
    this.offset = offset
  }
}

/** Decodes pairs of digits of either case, with nothing between or around them. @throws HexError */
export function decodeHex(text: string): Buffer {
  const bytes = Buffer.from(text, 'hex')
  // The second check excludes characters above U+00FF: the decoder may see only their low byte (threats N-04).
  if (bytes.length * 2 === text.length && Buffer.byteLength(text) === text.length) return bytes
  for (let at = 0; at < text.length; at += 1) {
    if (!isHexDigit(text.charCodeAt(at))) throw new HexError(at)
  }
  throw new HexError(text.length)
}

/** Encodes in lower case. */
export function encodeHex(bytes: Buffer): string {
  return bytes.toString('hex')
}

function isHexDigit(code: number): boolean {
  const lower = code | 0x20
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x66)
}
