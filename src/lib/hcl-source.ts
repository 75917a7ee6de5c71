// The text that the readers of HCL and JSON walk over: its limits, and the one way in which they refuse it.

/** Policies and configuration files are small. The limit also bounds the cost of reading an unknown text. */
export const MAX_HCL_BYTES = 1024 * 1024
/** Objects and lists within each other. The readers recurse, so this also bounds the stack. */
export const MAX_HCL_DEPTH = 64
/** More digits than any integer that a policy or a configuration can mean. */
export const MAX_NUMBER_LENGTH = 64

/**
 * The text cannot be read. Says where and what is wrong, never what a quoted text or a word holds: it may be a secret.
 */
export class HclError extends Error {
  override name = 'HclError'
  readonly line: number
  readonly column: number
  constructor(line: number, column: number, problem: string) {
    super(`line ${line}, column ${column}: ${problem}`)
    this.line = line
    this.column = column
  }
}

/** Line and column count from 1; a column is a UTF-16 unit. */
export type HclPosition = { readonly line: number; readonly column: number }

/** A checked text with positions. */
export class HclSource {
  readonly text: string
  // The point where counting stopped. Offsets mostly grow, so finding all positions of a text costs one pass over it.
  #line = 1
  #lineStart = 0
  #lineEnd: number

  /** Checks the text. @throws HclError if it is too long, not well-formed, or has U+0000 */
  constructor(text: string) {
    this.text = text
    this.#lineEnd = endOfLine(text, 0)
    if (text.length > MAX_HCL_BYTES || Buffer.byteLength(text) > MAX_HCL_BYTES) {
      this.fail(0, `the text is longer than ${MAX_HCL_BYTES} bytes`)
    }
    // A lone surrogate has no UTF-8 form: two different texts would be stored as the same bytes (threats N-18).
    if (!text.isWellFormed()) this.fail(0, 'the text is not well-formed Unicode')
    const nul = text.indexOf('\0')
    if (nul !== -1) this.fail(nul, 'the character U+0000 is not allowed')
  }

  /** Returns the position of a UTF-16 offset. */
  position(offset: number): HclPosition {
    if (offset < this.#lineStart) {
      this.#line = 1
      this.#lineStart = 0
      this.#lineEnd = endOfLine(this.text, 0)
    }
    while (offset > this.#lineEnd) {
      this.#line += 1
      this.#lineStart = this.#lineEnd + 1
      this.#lineEnd = endOfLine(this.text, this.#lineStart)
    }
    return { line: this.#line, column: offset - this.#lineStart + 1 }
  }

  /** Refuses the text at this offset. @throws HclError always */
  fail(offset: number, problem: string): never {
    const { line, column } = this.position(offset)
    throw new HclError(line, column, problem)
  }

  /** Describes the character at `offset` for a message: itself if it is visible ASCII, otherwise its number. */
  describe(offset: number): string {
    const code = this.text.codePointAt(offset)
    if (code === undefined) return 'the end of the text'
    if (code > 0x20 && code < 0x7f) return `"${String.fromCharCode(code)}"`
    return `the character U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  }

  /** Returns the number of `count` hexadecimal digits at `start`; -1 if they are not there. */
  hexDigits(start: number, count: number): number {
    let value = 0
    for (let at = start; at < start + count; at++) {
      const digit = hexDigit(this.text.charCodeAt(at))
      if (digit === -1) return -1
      value = value * 16 + digit
    }
    return value
  }
}

/** Returns an exact integer: a bigint if a double cannot hold it. `digits` must be valid in `radix`. */
export function hclInteger(negative: boolean, digits: string, radix: 8 | 10 | 16): number | bigint {
  const magnitude = BigInt(radix === 10 ? digits : `${radix === 8 ? '0o' : '0x'}${digits}`)
  const value = negative ? -magnitude : magnitude
  const double = Number(value)
  return Number.isSafeInteger(double) ? double : value
}

/** True for the code of `0` to `9`. */
export function isDigitCode(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Returns the value of a hexadecimal digit, given its code; -1 for any other code. */
export function hexDigit(code: number): number {
  if (isDigitCode(code)) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}
