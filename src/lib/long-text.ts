// Long texts that are made as bytes and written as bytes, such as a ciphertext of a megabyte, never become strings on
// the way. A string of that size takes memory of its own, which the system hands out page by page. The longest ones are
// freed only by a full collection, which cost a third of such a request.

/**
 * A text of ASCII that JSON writes without escapes. Code that does not know it sees the string of the same characters.
 */
export class LongText {
  readonly bytes: Buffer

  /** `bytes` must be characters from a space to a tilde, without quotes and backslashes. */
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

/** A shorter text is a string, which is as cheap then. */
const LEAST_CHARACTERS = 4_096
/**
 * Bytes that become base64 at once, in a string that costs next to nothing. A multiple of three, so no padding arises.
 */
const STEP_BYTES = 12_288

/** Returns the base64 of `bytes` after a prefix, whose characters must be those of a LongText. */
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
