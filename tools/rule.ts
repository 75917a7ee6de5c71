// The form of a rule of tidy, and the means of finding what breaks one.
import { type Import, readImports } from './imports.ts'
import { lineAt, readSource, type SourceText } from './source-text.ts'
import { type Finding, isTest } from './tree.ts'

/** A rule: one row of RULES. */
export type Rule = {
  readonly id: string
  /** The fault, and the remedy. */
  readonly message: string
  readonly applies: (path: string) => boolean
  readonly find: Find
  /** Files, or folders ending in '/', that are exempt, each with its reason. */
  readonly except: Readonly<Record<string, string>>
}

/** Returns the lines that break a rule. */
export type Find = (file: ReadFile) => number[]

/** A file as rules see it. */
export type ReadFile = { readonly text: string; readonly source: SourceText; readonly imports: readonly Import[] }

/** Applies the rules for `path` to its text. */
export function applyRules(rules: readonly Rule[], path: string, text: string): Finding[] {
  const source = readSource(text)
  const file = { text, source, imports: readImports(source) }
  return rules
    .filter((rule) => rule.applies(path) && !isExcepted(rule, path))
    .flatMap(({ id, find, message }) => find(file).map((line) => ({ path, line, message: `${id}: ${message}` })))
}

function isExcepted(rule: Rule, path: string): boolean {
  return Object.keys(rule.except).some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place))
}

/** True for every file: for rules about all of them. */
export function everywhere(): boolean {
  return true
}

/** True for files that run as the server or the client, tests left out. */
export function inProgram(path: string): boolean {
  return path.startsWith('src/') && !isTest(path)
}

/** Finds what matches outside comments, strings and regular expressions. */
export function code(pattern: RegExp): Find {
  return ({ source }) => [...source.code.matchAll(pattern)].map(({ index }) => lineAt(source.code, index))
}

/** Finds what matches in comments. */
export function comments(pattern: RegExp): Find {
  return ({ source }) => [...source.comments.matchAll(pattern)].map(({ index }) => lineAt(source.comments, index))
}

/** Finds `text` as a whole string without a reason, a comment `// text: …`, on its line or the one above. */
export function stringWithoutReason(text: string): Find {
  return ({ source }) => {
    const comments = source.comments.split('\n')
    const hasReason = (line: number): boolean =>
      [comments[line - 2], comments[line - 1]].some((comment = '') => comment.includes(`${text}: `))
    return source.strings
      .filter((literal) => literal.text === text)
      .map(({ start }) => lineAt(source.code, start))
      .filter((line) => !hasReason(line))
  }
}

/** Finds what matches anywhere: in code, comments, strings and paths of imports. */
export function anywhere(pattern: RegExp): Find {
  return ({ text }) => [...new Set([...text.matchAll(pattern)].map(({ index }) => lineAt(text, index)))]
}

/** Finds imports of values from `modules`: any, or `names` alone, and unless `whole` is false the module as a whole. */
export function importsOf(modules: readonly string[] | RegExp, names?: readonly string[], { whole = true } = {}): Find {
  const isOne = (specifier: string): boolean =>
    modules instanceof RegExp ? modules.test(specifier) : modules.includes(specifier)
  const meant = (name: string): boolean =>
    names === undefined || names.includes(name) || (whole && (name === '*' || name === 'default'))
  return ({ imports }) =>
    imports
      .filter((each) => !each.typeOnly && isOne(each.specifier ?? '') && each.names.some(meant))
      .map((each) => each.line)
}

/** Joins several: each line is found once. */
export function anyOf(...finds: readonly Find[]): Find {
  return (file) => [...new Set(finds.flatMap((find) => find(file)))].sort((a, b) => a - b)
}

const UNBOUNDED = /^(?:[*+]|\{\d*,\})/

/** Finds regular expressions in which a repetition is repeated: they can take exponential time. */
export function nestedRepetition({ source }: ReadFile): number[] {
  return source.regexes.filter(({ text }) => repeatsRepetition(text)).map(({ start }) => lineAt(source.code, start))
}

/** True if a group that holds an unbounded repetition is itself repeated, as in `(a+)*`. */
function repeatsRepetition(expression: string): boolean {
  const open: boolean[] = []
  let repeated = false
  let inClass = false
  for (let at = 0; at < expression.length; at++) {
    const character = expression.charAt(at)
    if (character === '\\') at++
    else if (inClass) inClass = character !== ']'
    else if (character === '[') inClass = true
    else if (character === '(') {
      open.push(repeated)
      repeated = false
    } else if (character === ')') {
      const inner: boolean = repeated
      const unbounded = UNBOUNDED.test(expression.slice(at + 1))
      if (inner && unbounded) return true
      repeated = (open.pop() ?? false) || inner || unbounded
    } else if (UNBOUNDED.test(expression.slice(at))) repeated = true
  }
  return false
}

/** Look-ups that are allowed, by file, each with its reason. One that nothing needs is refused. */
export type KnownLookUps = Readonly<Record<string, Readonly<Record<string, string>>>>
