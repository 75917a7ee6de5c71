// Reports sizes that are worth a question, and refuses none: a long file may be one thing, which cutting would spoil.
import { GENERATED_FILES } from './generated.ts'
import { lineAt, readSource, wordBefore } from './source-text.ts'
import { isTest, type Tree } from './tree.ts'

/** Something that is larger than its limit. */
export type Size = { readonly path: string; readonly line: number; readonly name: string; readonly size: number }

/** The lists of oversizes, each with the largest first. */
export type Sizes = {
  readonly files: readonly Size[]
  readonly functions: readonly Size[]
  readonly parameters: readonly Size[]
}

const MOST_FILE_LINES = 300
const MOST_FUNCTION_LINES = 50
const MOST_PARAMETERS = 4

/** Finds everything beyond the limits, tests and generated files left out. */
export function oversizes(tree: Tree): Sizes {
  const program = [...tree].filter(([path]) => !isTest(path) && !GENERATED_FILES.has(path))
  const functions = program.flatMap(([path, text]) => readFunctions(text).map((each) => ({ path, ...each })))
  return {
    files: largest(
      program.map(([path, text]) => ({ path, line: 1, name: 'lines', size: text.split('\n').length - 1 })),
      MOST_FILE_LINES,
    ),
    functions: largest(
      functions.map(({ path, line, name, lines }) => ({ path, line, name, size: lines })),
      MOST_FUNCTION_LINES,
    ),
    parameters: largest(
      functions.map(({ path, line, name, parameters }) => ({ path, line, name, size: parameters })),
      MOST_PARAMETERS,
    ),
  }
}

function largest(sizes: readonly Size[], limit: number): Size[] {
  return sizes.filter(({ size }) => size > limit).sort((a, b) => b.size - a.size)
}

/** Formats the counts, and under each at most `rows` of the largest. */
export function formatSizes({ files, functions, parameters }: Sizes, rows: number): string {
  const part = (title: string, sizes: readonly Size[]): string[] => [
    `${title}: ${sizes.length}`,
    ...sizes.slice(0, rows).map(({ path, line, name, size }) => `  ${size}  ${path}:${line} ${name}`),
  ]
  return [
    ...part(`files over ${MOST_FILE_LINES} lines`, files),
    ...part(`functions over ${MOST_FUNCTION_LINES} lines`, functions),
    ...part(`functions with more than ${MOST_PARAMETERS} parameters`, parameters),
  ].join('\n')
}

/** A function; its lines count from the head to the closing brace. */
export type FunctionSize = {
  readonly line: number
  readonly name: string
  readonly lines: number
  readonly parameters: number
}

/** Words whose brackets are no parameters, though a `{` follows. */
const STATEMENTS = ['if', 'for', 'while', 'switch', 'catch', 'with', 'await']

/** Returns the functions that have a body in braces. */
export function readFunctions(text: string): FunctionSize[] {
  const { code } = readSource(text)
  const pairs = bracketPairs(code)
  const found: FunctionSize[] = []
  let bodyOfLast = 0
  for (const [open, close] of [...pairs].sort(([a], [b]) => a - b)) {
    // The text before a body is parameters and types, in which function types look alike.
    if (code[open] !== '(' || open < bodyOfLast) continue
    const name = wordBefore(code, code.slice(0, open).trimEnd().length)
    const body = STATEMENTS.includes(name) ? undefined : bodyAfter(code, close + 1, pairs)
    if (body === undefined) continue
    bodyOfLast = body
    const line = lineAt(code, open)
    const lines = lineAt(code, pairs.get(body) ?? code.length) - line + 1
    found.push({ line, name, lines, parameters: countParts(code, open, close, pairs) })
  }
  return found
}

/** Returns the offset of each closing bracket by that of its opening one. */
function bracketPairs(code: string): Map<number, number> {
  const pairs = new Map<number, number>()
  const open: number[] = []
  for (const { index, 0: bracket } of code.matchAll(/[()[\]{}]/g)) {
    if ('([{'.includes(bracket)) open.push(index)
    else pairs.set(open.pop() ?? index, index)
  }
  return pairs
}

/** Returns the offset of the `{` of the function whose parameters end at `from`; undefined if it has no such body. */
function bodyAfter(code: string, from: number, pairs: ReadonlyMap<number, number>): number | undefined {
  const next = /\s*(=>\s*)?(\{|:)?/y
  next.lastIndex = from
  const [all = '', , first] = next.exec(code) ?? []
  const at = from + all.length
  if (first === '{') return at - 1
  return first === ':' ? bodyAfterType(code, at, pairs) : undefined
}

/** A type goes on behind these at the end of a line, */
const GOES_ON_BEHIND = ':|&<,=?'
/** and before these at the beginning of the next. */
const GOES_ON_BEFORE = '|&>=?:'

/**
 * Skips a return type. A brace in it follows `:`, `|`, `&`, `<`, `,` or the arrow of a type; the body's follows the end
 * of the type, or the arrow of the function. An arrow that is followed by no brace has no body in braces.
 */
function bodyAfterType(code: string, from: number, pairs: ReadonlyMap<number, number>): number | undefined {
  let last = ':'
  let areParameters = false
  for (let at = from; at < code.length; at++) {
    const character = code.charAt(at)
    if (character === '\n' && !goesOn(code, at, last)) return undefined
    if (character.trim() === '') continue
    if (code.startsWith('=>', at)) {
      if (!areParameters) return braceAt(code, at + 2)
      at++
    } else if (character === '{' && !':|&<,='.includes(last)) return at
    else if (';)]}='.includes(character)) return undefined
    areParameters = character === '(' && beginsParameters(code, at + 1, pairs)
    last = character
    at = pairs.get(at) ?? at
  }
  return undefined
}

/** True if a bracket in a type holds parameters, as in `(a: B) => C`; `(A | B)` is a type. */
function beginsParameters(code: string, inside: number, pairs: ReadonlyMap<number, number>): boolean {
  const first = inside + (/\S/.exec(code.slice(inside))?.index ?? 0)
  if (code[first] === ')' || code.startsWith('...', first)) return true
  const pattern = pairs.get(first)
  const end = pattern === undefined ? first + (/[^\w$]/.exec(code.slice(first))?.index ?? 0) : pattern + 1
  return '?:,)='.includes(code.slice(end).trimStart().charAt(0))
}

/** True if a type, or the function that it is returned by, goes on behind the end of a line. */
function goesOn(code: string, end: number, last: string): boolean {
  return GOES_ON_BEHIND.includes(last) || GOES_ON_BEFORE.includes(code.slice(end).trimStart().charAt(0))
}

/** Returns the offset of a brace that comes next. */
function braceAt(code: string, from: number): number | undefined {
  const brace = /\s*\{/y
  brace.lastIndex = from
  return brace.test(code) ? brace.lastIndex - 1 : undefined
}

/** Counts the parts of a list; commas in inner brackets do not count. */
function countParts(code: string, open: number, close: number, pairs: ReadonlyMap<number, number>): number {
  let parts = 0
  let inPart = false
  let angles = 0
  for (let at = open + 1; at < close; at++) {
    const character = code.charAt(at)
    if (character === '<') angles++
    if (character === '>' && code[at - 1] !== '=') angles--
    if (character === ',' && angles <= 0) inPart = false
    else if (character.trim() !== '' && !inPart) {
      inPart = true
      parts++
    }
    at = pairs.get(at) ?? at
  }
  return parts
}
