// Reads the JSON form of a policy or configuration (RFC 8259) into the same items as HCL. JSON.parse would not do: it
// drops repeated keys silently (a second "path" could remove a deny), rounds integers, and knows no positions.
import { type HclSource, hclInteger, isDigitCode, MAX_HCL_DEPTH, MAX_NUMBER_LENGTH } from './hcl-source.ts'
import type { HclItem, HclObject, HclValue } from './hcl-tree.ts'

const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d

const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
])

/** Returns the object that makes up all of `source`. @throws HclError */
export function parseJsonBody(source: HclSource): HclObject {
  return new JsonReader(source).whole()
}

class JsonReader {
  readonly #source: HclSource
  readonly #text: string
  #at = 0

  constructor(source: HclSource) {
    this.#source = source
    this.#text = source.text
  }

  whole(): HclObject {
    this.#skipBlanks()
    const body = this.#object(1)
    this.#skipBlanks()
    if (this.#at < this.#text.length) this.#unexpected('the end of the text')
    return body
  }

  #value(depth: number): HclValue {
    const code = this.#text.charCodeAt(this.#at)
    if (code === QUOTE) return { kind: 'string', value: this.#string() }
    if (code === MINUS || isDigitCode(code)) return { kind: 'number', value: this.#number() }
    if (this.#text[this.#at] === '{') return this.#object(depth + 1)
    if (this.#text[this.#at] === '[') return this.#list(depth + 1)
    if (this.#literal('true')) return { kind: 'bool', value: true }
    if (this.#literal('false')) return { kind: 'bool', value: false }
    if (this.#literal('null')) return { kind: 'null', value: null }
    this.#unexpected('a JSON value')
  }

  #object(depth: number): HclObject {
    const items: HclItem[] = []
    this.#open('{', depth)
    if (this.#take('}')) return { kind: 'object', items }
    do {
      this.#skipBlanks()
      if (this.#text.charCodeAt(this.#at) !== QUOTE) this.#unexpected('a key in quotes')
      const { line, column } = this.#source.position(this.#at)
      const key = this.#string()
      if (!this.#take(':')) this.#unexpected('":" after the key')
      this.#skipBlanks()
      items.push({ key, labels: [], value: this.#value(depth), line, column })
    } while (this.#take(','))
    if (!this.#take('}')) this.#unexpected('"," or "}"')
    return { kind: 'object', items }
  }

  #list(depth: number): HclValue {
    const elements: HclValue[] = []
    this.#open('[', depth)
    if (this.#take(']')) return { kind: 'list', elements }
    do {
      this.#skipBlanks()
      elements.push(this.#value(depth))
    } while (this.#take(','))
    if (!this.#take(']')) this.#unexpected('"," or "]"')
    return { kind: 'list', elements }
  }

  #open(bracket: string, depth: number): void {
    if (depth > MAX_HCL_DEPTH) this.#source.fail(this.#at, `nested deeper than ${MAX_HCL_DEPTH} levels`)
    if (!this.#take(bracket)) this.#unexpected(`"${bracket}"`)
  }

  #string(): string {
    const start = this.#at
    let value = ''
    let from = start + 1
    for (let at = from; ; ) {
      const code = this.#text.charCodeAt(at)
      if (code === QUOTE) {
        this.#at = at + 1
        value += this.#text.slice(from, at)
        // Checked only at the end, since two escapes may make one character.
        if (!value.isWellFormed()) this.#source.fail(start, 'an escape in the text is half a character')
        return value
      }
      if (code === BACKSLASH) {
        value += this.#text.slice(from, at) + this.#escape(at)
        from = this.#at
        at = from
      } else if (Number.isNaN(code)) {
        this.#source.fail(start, 'the text is not closed by a quote')
      } else if (code < SPACE) {
        this.#source.fail(at, `${this.#source.describe(at)} inside quotes is written as an escape`)
      } else {
        at += 1
      }
    }
  }

  /** Returns the UTF-16 unit of the escape at `start`, and moves past it. */
  #escape(start: number): string {
    const letter = this.#text[start + 1] ?? ''
    const simple = SIMPLE_ESCAPES.get(letter)
    if (simple !== undefined) {
      this.#at = start + 2
      return simple
    }
    const code = letter === 'u' ? this.#source.hexDigits(start + 2, 4) : -1
    if (code === -1) this.#source.fail(start, 'the escape is not one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\u')
    this.#at = start + 6
    return String.fromCharCode(code)
  }

  #number(): number | bigint {
    const start = this.#at
    const negative = this.#text.charCodeAt(start) === MINUS
    const first = negative ? start + 1 : start
    const wholeEnd = this.#digits(first)
    if (wholeEnd - first > 1 && this.#text[first] === '0') this.#source.fail(start, 'the number has a leading zero')
    let end = wholeEnd
    if (this.#text[end] === '.') end = this.#digits(end + 1)
    if (this.#text[end] === 'e' || this.#text[end] === 'E') {
      const sign = this.#text[end + 1]
      end = this.#digits(end + (sign === '+' || sign === '-' ? 2 : 1))
    }
    if (end - start > MAX_NUMBER_LENGTH) this.#source.fail(start, `the number has over ${MAX_NUMBER_LENGTH} characters`)
    this.#at = end
    if (end === wholeEnd) return hclInteger(negative, this.#text.slice(first, end), 10)
    // Adding 0 makes -0 plain zero.
    const value = Number(this.#text.slice(start, end)) + 0
    if (!Number.isFinite(value)) this.#source.fail(start, 'the number is out of range')
    return value
  }

  #digits(from: number): number {
    let end = from
    while (isDigitCode(this.#text.charCodeAt(end))) end += 1
    if (end === from) this.#source.fail(from, 'digits are missing in the number')
    return end
  }

  #literal(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }

  /** Skips blanks, and moves past `mark` if it comes next. */
  #take(mark: string): boolean {
    this.#skipBlanks()
    if (this.#text[this.#at] !== mark) return false
    this.#at += 1
    return true
  }

  #skipBlanks(): void {
    for (;;) {
      const character = this.#text[this.#at]
      if (character !== ' ' && character !== '\n' && character !== '\t' && character !== '\r') return
      this.#at += 1
    }
  }

  #unexpected(wanted: string): never {
    this.#source.fail(this.#at, `expected ${wanted}, found ${this.#source.describe(this.#at)}`)
  }
}
