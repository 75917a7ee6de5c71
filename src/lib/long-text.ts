// Long texts that are made of bytes and written as bytes, such as a ciphertext of a megabyte, never become strings on
// the way: each string of that size takes memory of its own that the system hands out page by page, and the longest
// ones are let go only when all of the heap is looked through, which cost a third of such a request.

/** A text of ASCII that JSON writes as it is. Wherever nobody knows of it, it is the string of the same characters. */
export class LongText {
  readonly bytes: Buffer

  /** `bytes`: characters from a space to a tilde without quotes and backslashes. */
  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  toString(): string {
    return this.bytes.toString('latin1')
  }

  toJSON(): string {
    return this.toString()
  }
}

/** A shorter one is a string: that is as cheap then. */
const LEAST_CHARACTERS = 4_096
/** So many bytes become base64 at once, in a string that costs next to nothing; of three bytes each, so no padding. */
const STEP_BYTES = 12_288

/** The base64 of `bytes`, behind a prefix of characters that a LongText may have. */
export function base64Text(bytes: Buffer, prefix = ''): string | LongText {
  const length = prefix.length + Math.ceil(bytes.length / 3) * 4
  if (length < LEAST_CHARACTERS) return prefix + bytes.toString('base64')
  const text = Buffer.alloc(length)
  let at = text.write(prefix, 'latin1')
  for (let from = 0; from < bytes.length; from += STEP_BYTES) {
    at += text.write(bytes.toString('base64', from, Math.min(from + STEP_BYTES, bytes.length)), at, 'latin1')
  }
  return new LongText(text)
}
