// Sizes that are worth a question and no refusal: a long file may be one thing, and cutting it would be worse.
import { lineAt, readSource, wordBefore } from './source-text.ts'
import { isTest, type Tree } from './tree.ts'

/** Something that is larger than its limit. */
export type Size = { readonly path: string; readonly line: number; readonly name: string; readonly size: number }

/** Each list with the largest first. */
export type Sizes = {
  readonly files: readonly Size[]
  readonly functions: readonly Size[]
  readonly parameters: readonly Size[]
}

/** Written by a program, for programs to read. */
const GENERATED: ReadonlySet<string> = new Set(['src/client/endpoints.ts'])

const MOST_FILE_LINES = 300
const MOST_FUNCTION_LINES = 50
const MOST_PARAMETERS = 4

/** What is larger than the limits in everything but tests, largest first. */
export function oversizes(tree: Tree): Sizes {
  const program = [...tree].filter(([path]) => !isTest(path) && !GENERATED.has(path))
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

/** The counts, and under each at most `rows` of the largest. */
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

/** A function with its lines from the head to the closing brace. */
export type FunctionSize = {
  readonly line: number
  readonly name: string
  readonly lines: number
  readonly parameters: number
}

/** Words whose brackets are no parameters, though a `{` follows. */
const STATEMENTS = ['if', 'for', 'while', 'switch', 'catch', 'with', 'await']

/** Functions that have a body in braces. */
export function readFunctions(text: string): FunctionSize[] {
  const { code } = readSource(text)
  const pairs = bracketPairs(code)
  const found: FunctionSize[] = []
  for (const [open, close] of pairs) {
    if (code[open] !== '(') continue
    const name = wordBefore(code, code.slice(0, open).trimEnd().length)
    const body = STATEMENTS.includes(name) ? undefined : bodyAfter(code, close + 1, pairs)
    if (body === undefined) continue
    const line = lineAt(code, open)
    const lines = lineAt(code, pairs.get(body) ?? code.length) - line + 1
    found.push({ line, name, lines, parameters: countParts(code, open, close, pairs) })
  }
  return found.sort((a, b) => a.line - b.line)
}

/** Offset of each closing bracket by its opening one. */
function bracketPairs(code: string): Map<number, number> {
  const pairs = new Map<number, number>()
  const open: number[] = []
  for (const { index, 0: bracket } of code.matchAll(/[()[\]{}]/g)) {
    if ('([{'.includes(bracket)) open.push(index)
    else pairs.set(open.pop() ?? index, index)
  }
  return pairs
}

/** Offset of the `{` of the function whose parameters end at `from`; undefined where there is no such body. */
function bodyAfter(code: string, from: number, pairs: ReadonlyMap<number, number>): number | undefined {
  const next = /\s*(=>\s*)?(\{|:)?/y
  next.lastIndex = from
  const [all = '', , first] = next.exec(code) ?? []
  const at = from + all.length
  if (first === '{') return at - 1
  return first === ':' ? bodyAfterType(code, at, pairs) : undefined
}

/** Skips a return type. A brace in it follows `:`, `|`, `&`, `<` or `,`; the body's follows the end of the type. */
function bodyAfterType(code: string, from: number, pairs: ReadonlyMap<number, number>): number | undefined {
  let last = ':'
  for (let at = from; at < code.length; at++) {
    const character = code.charAt(at)
    if (character.trim() === '') continue
    if (character === '{' && !':|&<,'.includes(last)) return at
    if (';)]}='.includes(character) && !code.startsWith('=>', at)) return undefined
    last = character
    at = pairs.get(at) ?? at
  }
  return undefined
}

/** Parts between the commas of a list, those in inner brackets not counted. */
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
