// HCL version 1, the language of policies and of the configuration file, and its JSON form, read into the same tree.
//
//   listener "tcp" { address = "127.0.0.1:8200" }     item: key `listener`, labels [`tcp`], value an object
//   path = { "a/*" = { capabilities = ["read"] } }    item: key `path`, no labels, value an object with item `a/*`
//
// Items keep the order of the text, and repeated keys stay: the caller decides what a repetition means.
import { parseJsonBody } from './hcl-json.ts'
import { HclScanner, type HclToken } from './hcl-scanner.ts'
import { HclError, HclSource, MAX_HCL_DEPTH } from './hcl-source.ts'
import type { HclItem, HclObject, HclValue } from './hcl-tree.ts'

export { HclError }

/** Parses HCL 1, or a JSON object if the text begins with a brace. @throws HclError */
export function parseHcl(text: string): HclObject {
  const source = new HclSource(text)
  return beginsWithBrace(text) ? parseJsonBody(source) : new HclParser(source).whole()
}

/** Returns the items of `body` with this key, in the order of the text. */
export function itemsOf(body: HclObject, key: string): HclItem[] {
  return body.items.filter((item) => item.key === key)
}

/** Returns the value of a string, number, bool or null; undefined for a list or an object. */
export function scalar(value: HclValue): string | number | bigint | boolean | null | undefined {
  return value.kind === 'list' || value.kind === 'object' ? undefined : value.value
}

/** Returns the texts of a list that holds nothing else; undefined for any other value. */
export function hclStrings(value: HclValue): string[] | undefined {
  if (value.kind !== 'list') return undefined
  const texts: string[] = []
  for (const element of value.elements) {
    if (element.kind !== 'string') return undefined
    texts.push(element.value)
  }
  return texts
}

/** A block with its labels, however they were written. */
export type HclBlock = {
  readonly labels: readonly string[]
  readonly body: HclObject
  readonly line: number
  readonly column: number
}

/**
 * Returns the blocks of `body` with this key and so many labels, in the order of the text. A block may be written as
 * `path "a" { }` or `path = { "a" = { } }`. JSON may also have a list of such objects on each level.
 * @throws HclError if a label is missing or one too many, or if there is something other than an object
 */
export function blocksOf(body: HclObject, key: string, labelCount: number): HclBlock[] {
  const blocks: HclBlock[] = []
  for (const item of itemsOf(body, key)) collectBlocks(item, item.labels, item.value, labelCount, blocks)
  return blocks
}

/** Recurses once for each label and once for each list, so never deeper than the text is nested. */
function collectBlocks(
  item: HclItem,
  labels: readonly string[],
  value: HclValue,
  labelCount: number,
  blocks: HclBlock[],
): void {
  if (labels.length > labelCount) throw new HclError(item.line, item.column, 'the block has a label too many')
  if (value.kind === 'list') {
    for (const element of value.elements) collectBlocks(item, labels, element, labelCount, blocks)
  } else if (value.kind !== 'object') {
    const wanted = labels.length < labelCount ? 'a label and a block' : 'a block'
    throw new HclError(item.line, item.column, `expected ${wanted} in braces here`)
  } else if (labels.length === labelCount) {
    blocks.push({ labels, body: value, line: item.line, column: item.column })
  } else {
    for (const inner of value.items) {
      collectBlocks(inner, [...labels, inner.key, ...inner.labels], inner.value, labelCount, blocks)
    }
  }
}

/** True if the text is to be read as JSON. */
export function beginsWithBrace(text: string): boolean {
  let at = 0
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1
  return text[at] === '{'
}

class HclParser {
  readonly #source: HclSource
  readonly #scanner: HclScanner
  #token: HclToken

  constructor(source: HclSource) {
    this.#source = source
    this.#scanner = new HclScanner(source)
    this.#token = this.#scanner.next()
  }

  whole(): HclObject {
    return { kind: 'object', items: this.#items('end', 0) }
  }

  #advance(): HclToken {
    const token = this.#token
    this.#token = this.#scanner.next()
    return token
  }

  /** Reads items up to `closer`, which is not consumed. One comma may follow an item. */
  #items(closer: '}' | 'end', depth: number): HclItem[] {
    const items: HclItem[] = []
    while (!this.#is(closer)) {
      items.push(this.#item(depth))
      if (this.#is(',')) this.#advance()
    }
    return items
  }

  #item(depth: number): HclItem {
    const first = this.#token
    if (first.kind !== 'word' && first.kind !== 'string') this.#unexpected(depth > 0 ? 'a key or "}"' : 'a key')
    this.#advance()
    const { line, column } = this.#source.position(first.start)
    const labels: string[] = []
    while (this.#token.kind === 'word' || this.#token.kind === 'string') {
      labels.push(this.#token.text)
      this.#advance()
    }
    if (this.#token.kind === '=' && labels.length === 0) {
      this.#advance()
      return { key: first.text, labels, value: this.#value(depth), line, column }
    }
    if (this.#token.kind !== '{') this.#unexpected(labels.length === 0 ? '"=" or "{"' : '"{"')
    return { key: first.text, labels, value: this.#object(depth), line, column }
  }

  #value(depth: number): HclValue {
    const token = this.#token
    switch (token.kind) {
      case 'string':
      case 'here-document':
        this.#advance()
        return { kind: 'string', value: token.text }
      case 'number':
        this.#advance()
        return { kind: 'number', value: token.number }
      case 'bool':
        this.#advance()
        return { kind: 'bool', value: token.bool }
      case '{':
        return this.#object(depth)
      case '[':
        return this.#list(depth)
      default:
        return this.#unexpected('a value')
    }
  }

  #object(depth: number): HclObject {
    this.#open(depth)
    const items = this.#items('}', depth + 1)
    this.#advance()
    return { kind: 'object', items }
  }

  #list(depth: number): HclValue {
    this.#open(depth)
    const elements: HclValue[] = []
    while (!this.#is(']')) {
      elements.push(this.#value(depth + 1))
      if (this.#is(',')) this.#advance()
      else if (!this.#is(']')) this.#unexpected('"," or "]"')
    }
    this.#advance()
    return { kind: 'list', elements }
  }

  #is(kind: HclToken['kind']): boolean {
    return this.#token.kind === kind
  }

  #open(depth: number): void {
    if (depth >= MAX_HCL_DEPTH) this.#source.fail(this.#token.start, `nested deeper than ${MAX_HCL_DEPTH} levels`)
    this.#advance()
  }

  #unexpected(wanted: string): never {
    this.#source.fail(this.#token.start, `expected ${wanted}, found ${describe(this.#token)}`)
  }
}

/** Says what a token is, not what it holds: a text or a word may be a secret that lost its quotes. */
function describe(token: HclToken): string {
  switch (token.kind) {
    case 'word':
      return 'a word without quotes'
    case 'string':
      return 'a text in quotes'
    case 'here-document':
      return 'a here-document'
    case 'number':
    case 'bool':
      return `a ${token.kind}`
    case 'end':
      return 'the end of the text'
    default:
      return `"${token.kind}"`
  }
}
