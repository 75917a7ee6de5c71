// Blanks out comments, strings and regular expressions of TypeScript, so that a word found in the rest is code. It is
// no parser: it knows where such a piece begins and ends, and nothing else.

/** A string without computed parts. */
export type StringLiteral = {
  /** Offset of the first quote. */
  readonly start: number
  /** The text between the quotes, escapes as written. */
  readonly text: string
}

/** A regular expression as it is written. */
export type RegexLiteral = {
  /** Offset of the first slash. */
  readonly start: number
  /** The text between the slashes. */
  readonly text: string
}

/** A file in its parts. */
export type SourceText = {
  /** The code, as long as the source, with its line breaks, and the quotes of strings and slashes of expressions. */
  readonly code: string
  /** The comments, as long as the source, with everything else blanked. */
  readonly comments: string
  /** Strings in quotes, and templates without `${`, in order. */
  readonly strings: readonly StringLiteral[]
  readonly regexes: readonly RegexLiteral[]
}

/** Takes a file apart. It never fails: a piece that is cut off ends with the file or the line. */
export function readSource(source: string): SourceText {
  const scan = new Scan(source)
  while (!scan.done) scan.step()
  return {
    code: scan.code.join(''),
    comments: scan.comments.join(''),
    strings: scan.strings,
    regexes: scan.regexes,
  }
}

/** Returns the line of an offset, counted from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** After one of these words a slash begins a regular expression; after any other name it divides. */
const BEFORE_REGEX = 'return typeof case in of delete void throw new else do await yield instanceof'.split(' ')
/** After one of these a value has ended, so a slash divides. */
const VALUE_ENDS = `)]'"\`/`

class Scan {
  readonly code: string[] = []
  readonly comments: string[] = []
  readonly strings: StringLiteral[] = []
  readonly regexes: RegexLiteral[] = []
  private readonly source: string
  private at = 0
  /** Offset behind the last character of code that is not blank. */
  private codeEnd = 0
  /** Open braces inside the `${` of each template that is open at this offset. */
  private readonly openBraces: number[] = []

  constructor(source: string) {
    this.source = source
  }

  get done(): boolean {
    return this.at >= this.source.length
  }

  step(): void {
    const { source, at } = this
    const character = source.charAt(at)
    if (source.startsWith('//', at) || (at === 0 && source.startsWith('#!'))) this.comment(find(source, '\n', at))
    else if (source.startsWith('/*', at)) this.comment(find(source, '*/', at + 2) + 2)
    else if (character === "'" || character === '"') this.literal(endOfString(source, at, character))
    else if (character === '`') this.template()
    else if (character === '/') this.slash()
    else if (character === '{' || character === '}') this.brace(character)
    else this.keep(endOfPlainCode(source, at))
  }

  private keep(end: number): void {
    const text = this.source.slice(this.at, end)
    this.code.push(text)
    this.comments.push(blank(text))
    this.codeEnd = text.trim() === '' ? this.codeEnd : this.at + text.trimEnd().length
    this.at = end
  }

  private drop(end: number): void {
    const blanks = blank(this.source.slice(this.at, end))
    this.code.push(blanks)
    this.comments.push(blanks)
    this.at = end
  }

  private comment(end: number): void {
    const text = this.source.slice(this.at, end)
    this.code.push(blank(text))
    this.comments.push(text)
    this.at = Math.min(end, this.source.length)
  }

  /** Keeps the quotes, here and at `end`, and blanks what is between. */
  private literal(end: number): void {
    this.strings.push({ start: this.at, text: this.source.slice(this.at + 1, end) })
    this.keep(this.at + 1)
    this.drop(end)
    this.keep(end + 1)
  }

  private template(): void {
    const end = endOfTemplateText(this.source, this.at + 1)
    if (this.source[end] === '$') {
      this.keep(this.at + 1)
      this.templateText()
    } else this.literal(end)
  }

  /** From inside a template to behind its end, or into its next `${`. */
  private templateText(): void {
    this.drop(endOfTemplateText(this.source, this.at))
    if (this.source[this.at] === '$') {
      this.openBraces.push(0)
      this.keep(this.at + 2)
    } else this.keep(this.at + 1)
  }

  private brace(character: '{' | '}'): void {
    const open = this.openBraces.pop()
    this.keep(this.at + 1)
    if (open === undefined) return
    if (character === '}' && open === 0) this.templateText()
    else this.openBraces.push(character === '{' ? open + 1 : open - 1)
  }

  private slash(): void {
    const end = this.mayBeginRegex() ? endOfRegex(this.source, this.at) : -1
    if (end !== -1) {
      this.regexes.push({ start: this.at, text: this.source.slice(this.at + 1, end) })
      this.keep(this.at + 1)
      this.drop(end)
    }
    this.keep(this.at + 1)
  }

  private mayBeginRegex(): boolean {
    const word = wordBefore(this.source, this.codeEnd)
    if (word !== '') return BEFORE_REGEX.includes(word)
    return this.codeEnd === 0 || !VALUE_ENDS.includes(this.source.charAt(this.codeEnd - 1))
  }
}

/** Returns the name, keyword or number that ends at `end`, or ''. */
export function wordBefore(text: string, end: number): string {
  let start = end
  while (start > 0 && /[\w$]/.test(text.charAt(start - 1))) start--
  return text.slice(start, end)
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ')
}

function find(source: string, what: string, from: number): number {
  const at = source.indexOf(what, from)
  return at === -1 ? source.length : at
}

function endOfPlainCode(source: string, from: number): number {
  let end = from + 1
  while (end < source.length && !'\'"`/{}'.includes(source.charAt(end))) end++
  return end
}

/** Returns the offset of the closing quote, or of the end of a line without one. */
function endOfString(source: string, from: number, quote: string): number {
  let end = from + 1
  while (end < source.length && source[end] !== quote && source[end] !== '\n') end += source[end] === '\\' ? 2 : 1
  return end
}

/** Returns the offset of the '`' that closes a template, or of its next `${`. */
function endOfTemplateText(source: string, from: number): number {
  let end = from
  while (end < source.length && source[end] !== '`' && !source.startsWith('${', end)) {
    end += source[end] === '\\' ? 2 : 1
  }
  return end
}

/** Returns the offset of the closing slash; -1 if the line has none, and it was a division after all. */
function endOfRegex(source: string, from: number): number {
  let inClass = false
  for (let end = from + 1; end < source.length && source[end] !== '\n'; end++) {
    const character = source[end]
    if (character === '\\') end++
    else if (character === '[') inClass = true
    else if (character === ']') inClass = false
    else if (character === '/' && !inClass) return end
  }
  return -1
}
