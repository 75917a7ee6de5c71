// Base64 of RFC 4648, decoded exactly. Node's own decoder never fails: it takes both alphabets, drops what it does not
// know, and cuts characters above U+00FF to their low byte (threats N-04).

const PAD = 0x3d
const CARRIAGE_RETURN = 0x0d
const LINE_FEED = 0x0a

/** The text is not base64; `offset` is where decoding stopped. */
export class Base64Error extends Error {
  override name = 'Base64Error'
  readonly offset: number
  constructor(offset: number) {
    // Wire text.
    super(`illegal base64 data at input byte ${offset}`)
    this.offset = offset
  }
}

/**
 * Decodes the standard alphabet with padding. CR and LF are skipped wherever they stand, and the bits of the last
 * character that no byte needs are not checked: existing clients send both.
 * @throws Base64Error
 */
export function decodeBase64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  // Every character that the decoder drops shortens the result, so a result of full length dropped none. What is left
  // to exclude is the other alphabet, and characters cut to a low byte. Costs 0.05 µs where encoding again and
  // comparing costs 0.09 µs (128 bytes), and a sixth of it for 24 MiB.
  if (bytes.length === paddedBytes(text) && !text.includes('-') && !text.includes('_') && isAscii(text)) return bytes
  const expectedBytes = checkPadded(text)
  if (bytes.length !== expectedBytes) throw new Error('The base64 decoder disagrees with its check')
  return bytes
}

/**
 * Decodes the URL-safe alphabet without padding, as JWS writes it (RFC 7515 section 2). `=` is an error, CR and LF are
 * skipped, unused bits are not checked.
 * @throws Base64Error
 */
export function decodeBase64Url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  const plain = text.length % 4 !== 1 && bytes.length === Math.floor((text.length * 3) / 4)
  if (plain && !text.includes('+') && !text.includes('/') && isAscii(text)) return bytes
  const expectedBytes = checkUnpadded(text)
  if (bytes.length !== expectedBytes) throw new Error('The base64url decoder disagrees with its check')
  return bytes
}

/** Encodes in the standard alphabet, with padding. */
export function encodeBase64(bytes: Buffer): string {
  return bytes.toString('base64')
}

/** Encodes in the URL-safe alphabet, without padding. */
export function encodeBase64Url(bytes: Buffer): string {
  return bytes.toString('base64url')
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}

/** Bytes that a text of this length holds if it has no line breaks; a fraction if the length cannot be right. */
function paddedBytes(text: string): number {
  const { length } = text
  if (length === 0 || text.charCodeAt(length - 1) !== PAD) return (length / 4) * 3
  return (length / 4) * 3 - (text.charCodeAt(length - 2) === PAD ? 2 : 1)
}

const STANDARD_DIGITS = digitTable('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const URL_DIGITS = digitTable('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')

function digitTable(digits: string): Uint8Array {
  const table = new Uint8Array(128)
  for (const digit of digits) table[digit.charCodeAt(0)] = 1
  return table
}

function isLineBreak(code: number): boolean {
  return code === LINE_FEED || code === CARRIAGE_RETURN
}

function skipLineBreaks(text: string, from: number): number {
  let at = from
  while (at < text.length && isLineBreak(text.charCodeAt(at))) at += 1
  return at
}

// The offset of an error: the index of a wrong character; the start of the group in which the text ends; the length, if
// the second pad is missing; the index of what follows the padding. All characters before the offset are ASCII, so an
// index in the string is an offset in bytes.

/** Returns how many bytes the text holds. */
function checkPadded(text: string): number {
  let digits = 0
  let groupAt = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (STANDARD_DIGITS[code] === 1) {
      if (digits % 4 === 0) groupAt = at
      digits += 1
    } else if (code === PAD && digits % 4 >= 2) {
      checkPadding(text, at, digits % 4)
      return Math.floor((digits * 3) / 4)
    } else if (!isLineBreak(code)) {
      throw new Base64Error(at)
    }
  }
  if (digits % 4 !== 0) throw new Base64Error(groupAt)
  return (digits / 4) * 3
}

function checkPadding(text: string, padAt: number, digitsInGroup: number): void {
  let at = skipLineBreaks(text, padAt + 1)
  if (digitsInGroup === 2) {
    if (at === text.length) throw new Base64Error(at)
    if (text.charCodeAt(at) !== PAD) throw new Base64Error(padAt)
    at = skipLineBreaks(text, at + 1)
  }
  if (at < text.length) throw new Base64Error(at)
}

/** Returns how many bytes the text holds. */
function checkUnpadded(text: string): number {
  let digits = 0
  let groupAt = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (URL_DIGITS[code] === 1) {
      if (digits % 4 === 0) groupAt = at
      digits += 1
    } else if (!isLineBreak(code)) {
      throw new Base64Error(at)
    }
  }
  if (digits % 4 === 1) throw new Base64Error(groupAt)
  return Math.floor((digits * 3) / 4)
}
