// Tokens of HCL version 1: words, texts in quotes, here-documents, numbers, bools and six punctuation marks. Each
// character is looked at a bounded number of times.
import { type HclSource, hclInteger, hexDigit, isDigitCode, MAX_NUMBER_LENGTH } from './hcl-source.ts'

/** Marks that are a token by themselves. */
export type HclPunctuation = '{' | '}' | '[' | ']' | '=' | ','
/** `start` is the offset of the token's first character. */
export type HclToken =
  /** A here-document is a value only, never a key. */
  | { readonly kind: 'word' | 'string' | 'here-document'; readonly start: number; readonly text: string }
  | { readonly kind: 'number'; readonly start: number; readonly number: number | bigint }
  | { readonly kind: 'bool'; readonly start: number; readonly bool: boolean }
  | { readonly kind: HclPunctuation | 'end'; readonly start: number }

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const HASH = 0x23
const DOLLAR = 0x24
const STAR = 0x2a
const MINUS = 0x2d
const POINT = 0x2e
const SLASH = 0x2f
const LESS = 0x3c
const BACKSLASH = 0x5c
const UNDERSCORE = 0x5f
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ['"', '"'],
])
/** Digits after `\x`, `\u` and `\U`. */
const HEX_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
])

/** Reads a text token by token. */
export class HclScanner {
  readonly #source: HclSource
  readonly #text: string
  #at = 0

  constructor(source: HclSource) {
    this.#source = source
    this.#text = source.text
  }

  /** The offset just past the last token. */
  get end(): number {
    return this.#at
  }

  /** Returns the next token; 'end' after the last one. @throws HclError at what begins no token */
  next(): HclToken {
    this.#skipBlanks()
    const start = this.#at
    const code = this.#text.charCodeAt(start)
    if (Number.isNaN(code)) return { kind: 'end', start }
    if (isWordStart(code)) return this.#word(start)
    if (code === QUOTE) return { kind: 'string', start, text: this.#quoted(start) }
    if (isDigitCode(code) || code === MINUS) return this.#number(start)
    if (code === LESS) return { kind: 'here-document', start, text: this.#hereDocument(start) }
    const character = this.#text[start]
    if (isPunctuation(character)) {
      this.#at = start + 1
      return { kind: character, start }
    }
    this.#source.fail(start, `${this.#source.describe(start)} is not expected here`)
  }

  #skipBlanks(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === SPACE || code === TAB || code === LINE_FEED || code === CARRIAGE_RETURN) this.#at += 1
      else if (code === HASH) this.#at = this.#endOfLine(this.#at)
      else if (code === SLASH) this.#comment()
      else return
    }
  }

  #comment(): void {
    const start = this.#at
    const second = this.#text.charCodeAt(start + 1)
    if (second === SLASH) {
      this.#at = this.#endOfLine(start)
    } else if (second === STAR) {
      const end = this.#text.indexOf('*/', start + 2)
      if (end === -1) this.#source.fail(start, 'the comment is not closed by "*/"')
      this.#at = end + 2
    } else {
      this.#source.fail(start, 'a comment begins with "#", "//" or "/*"')
    }
  }

  #endOfLine(from: number): number {
    const end = this.#text.indexOf('\n', from)
    return end === -1 ? this.#text.length : end
  }

  #word(start: number): HclToken {
    let end = start + 1
    while (isWordPart(this.#text.charCodeAt(end))) end += 1
    this.#at = end
    const text = this.#text.slice(start, end)
    if (text === 'true' || text === 'false') return { kind: 'bool', start, bool: text === 'true' }
    return { kind: 'word', start, text }
  }

  #quoted(start: number): string {
    let value = ''
    let from = start + 1
    let at = from
    for (;;) {
      const code = this.#text.charCodeAt(at)
      if (code === QUOTE) {
        this.#at = at + 1
        return value + this.#text.slice(from, at)
      }
      if (code === BACKSLASH) {
        value += this.#text.slice(from, at) + this.#escape(at)
        from = this.#at
        at = from
      } else if (code === DOLLAR && this.#text.charCodeAt(at + 1) === OPEN_BRACE) {
        at = this.#endOfInterpolation(at)
      } else if (Number.isNaN(code)) {
        this.#source.fail(start, 'the text is not closed by a quote')
      } else if (code < SPACE && code !== TAB) {
        const how = code === LINE_FEED ? 'a line break' : this.#source.describe(at)
        this.#source.fail(at, `${how} inside quotes is written as an escape such as \\n, or in a here-document`)
      } else {
        at += 1
      }
    }
  }

  /** Returns the character of the escape at `start`, and moves past it. */
  #escape(start: number): string {
    const letter = this.#text[start + 1] ?? ''
    const simple = SIMPLE_ESCAPES.get(letter)
    if (simple !== undefined) {
      this.#at = start + 2
      return simple
    }
    const hexCount = HEX_ESCAPES.get(letter)
    const code = hexCount === undefined ? this.#octal(start + 1) : this.#source.hexDigits(start + 2, hexCount)
    this.#at = start + (hexCount === undefined ? 4 : hexCount + 2)
    if (code === -1)
      this.#source.fail(start, 'the escape is not one of \\a \\b \\f \\n \\r \\t \\v \\\\ \\" \\x \\u \\U')
    // \x and octal escapes mean single bytes: above ASCII they would be halves of characters.
    const most = letter === 'u' || letter === 'U' ? 0x10ffff : 0x7f
    if (code > most || (code >= 0xd800 && code <= 0xdfff)) {
      this.#source.fail(start, 'the escape is no character; above U+007F write \\u or \\U')
    }
    return String.fromCodePoint(code)
  }

  #octal(start: number): number {
    let value = 0
    for (let at = start; at < start + 3; at++) {
      const digit = this.#text.charCodeAt(at) - 0x30
      if (!(digit >= 0 && digit <= 7)) return -1
      value = value * 8 + digit
    }
    return value
  }

  /** HCL 1 leaves `${…}` alone: up to the matching brace, quotes, escapes and line breaks mean nothing. */
  #endOfInterpolation(start: number): number {
    let braces = 1
    for (let at = start + 2; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at)
      if (code === OPEN_BRACE) braces += 1
      else if (code === CLOSE_BRACE && --braces === 0) return at + 1
    }
    this.#source.fail(start, 'the interpolation is not closed by "}"')
  }

  #number(start: number): HclToken {
    const text = this.#text
    const negative = text.charCodeAt(start) === MINUS
    const first = negative ? start + 1 : start
    const isHex = text.charCodeAt(first) === 0x30 && (text.charCodeAt(first + 1) | 0x20) === 0x78
    const digitsFrom = isHex ? first + 2 : first
    let end = digitsFrom
    while (isHex ? hexDigit(text.charCodeAt(end)) !== -1 : isDigitCode(text.charCodeAt(end))) end += 1
    if (end === digitsFrom) this.#source.fail(start, 'the number has no digits')
    const wholeEnd = end
    if (!isHex) end = this.#fraction(end)
    if (isWordPart(text.charCodeAt(end))) {
      this.#source.fail(start, 'the number ends in other characters; a duration or size belongs in quotes')
    }
    if (end - start > MAX_NUMBER_LENGTH) this.#source.fail(start, `the number has over ${MAX_NUMBER_LENGTH} characters`)
    this.#at = end
    if (end > wholeEnd) return { kind: 'number', start, number: this.#double(start, end) }
    const digits = text.slice(digitsFrom, end)
    // A leading zero means octal, as in HCL 1.
    const isOctal = !isHex && digits.length > 1 && digits.startsWith('0')
    if (isOctal && (digits.includes('8') || digits.includes('9'))) {
      this.#source.fail(start, 'a number with a leading zero is octal and has no digits above 7')
    }
    return { kind: 'number', start, number: hclInteger(negative, digits, isHex ? 16 : isOctal ? 8 : 10) }
  }

  /** Returns the end of `.5`, `e10` or `.5e-3` at `from`; `from` itself if there is none. */
  #fraction(from: number): number {
    let end = from
    if (this.#text.charCodeAt(end) === POINT) end = this.#digits(end + 1)
    if ((this.#text.charCodeAt(end) | 0x20) !== 0x65) return end
    const sign = this.#text[end + 1]
    return this.#digits(end + (sign === '+' || sign === '-' ? 2 : 1))
  }

  #digits(from: number): number {
    let end = from
    while (isDigitCode(this.#text.charCodeAt(end))) end += 1
    if (end === from) this.#source.fail(from, 'digits are missing in the number')
    return end
  }

  #double(start: number, end: number): number {
    // Adding 0 makes -0 plain zero.
    const value = Number(this.#text.slice(start, end)) + 0
    if (!Number.isFinite(value)) this.#source.fail(start, 'the number is out of range')
    return value
  }

  /**
   * Reads `<<MARK` up to a line that holds only MARK. `<<-MARK` also removes the closing line's indentation from each
   * line.
   */
  #hereDocument(start: number): string {
    const isIndented = this.#text.charCodeAt(start + 2) === MINUS
    const markFrom = start + (isIndented ? 3 : 2)
    let markEnd = markFrom
    while (isMarkPart(this.#text.charCodeAt(markEnd))) markEnd += 1
    const mark = this.#text.slice(markFrom, markEnd)
    const firstLineEnd = this.#text.charCodeAt(markEnd) === CARRIAGE_RETURN ? markEnd + 1 : markEnd
    if (this.#text[start + 1] !== '<' || mark === '' || this.#text.charCodeAt(firstLineEnd) !== LINE_FEED) {
      this.#source.fail(start, 'a here-document begins with "<<" and a word at the end of its line')
    }
    const lines: string[] = []
    for (let lineStart = firstLineEnd + 1; lineStart < this.#text.length; ) {
      const lineEnd = this.#endOfLine(lineStart)
      const end = this.#text.charCodeAt(lineEnd - 1) === CARRIAGE_RETURN ? lineEnd - 1 : lineEnd
      let textStart = lineStart
      while (isBlank(this.#text.charCodeAt(textStart))) textStart += 1
      if (end - textStart === mark.length && this.#text.startsWith(mark, textStart)) {
        this.#at = lineEnd
        return joinLines(lines, isIndented ? this.#text.slice(lineStart, textStart) : '')
      }
      lines.push(this.#text.slice(lineStart, Math.max(lineStart, end)))
      lineStart = lineEnd + 1
    }
    this.#source.fail(start, 'the here-document is not closed by a line with its word')
  }
}

/** No line loses its indentation if one of them is indented less, as in HCL 1. */
function joinLines(lines: readonly string[], indentation: string): string {
  const isCommon = lines.every((line) => line.startsWith(indentation))
  const cut = isCommon ? indentation.length : 0
  return lines.map((line) => `${line.slice(cut)}\n`).join('')
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

function isWordStart(code: number): boolean {
  const lower = code | 0x20
  return (lower >= 0x61 && lower <= 0x7a) || code === UNDERSCORE
}

function isWordPart(code: number): boolean {
  return isWordStart(code) || isDigitCode(code) || code === MINUS || code === POINT
}

function isMarkPart(code: number): boolean {
  return isWordStart(code) || isDigitCode(code)
}

function isPunctuation(character: string | undefined): character is HclPunctuation {
  return (
    character === '{' ||
    character === '}' ||
    character === '[' ||
    character === ']' ||
    character === '=' ||
    character === ','
  )
}
