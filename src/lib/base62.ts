// Random texts over 0-9, A-Z, a-z: tokens, accessors, one-time passwords.
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/**
 * The largest multiple of 62 in a byte. Larger bytes are thrown away: with them some characters would come more often.
 */
const FAIR = 248

/** Returns a text in which each character carries log2(62), some 5.95, bits of randomness. */
export function randomBase62(length: number, randomBytes: (count: number) => Buffer): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < FAIR && text.length < length) text += ALPHABET[byte % 62]
    }
  }
  return text
}
