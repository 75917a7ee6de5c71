// What a rule of tidy is, and the ways to find what breaks it.
import { type Import, readImports } from './imports.ts'
import { lineAt, readSource, type SourceText } from './source-text.ts'
import { type Finding, isTest } from './tree.ts'

/** One row of RULES. */
export type Rule = {
  readonly id: string
  /** What is wrong and what to do instead. */
  readonly message: string
  readonly applies: (path: string) => boolean
  readonly find: Find
  /** Files, or folders ending in '/', that may do it, each with its reason. */
  readonly except: Readonly<Record<string, string>>
}

/** Lines that break the rule. */
export type Find = (file: ReadFile) => number[]

/** What a rule sees of a file. */
export type ReadFile = { readonly text: string; readonly source: SourceText; readonly imports: readonly Import[] }

/** What the rules that apply to `path` find in it. */
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

/** For rules about every file of ours. */
export function everywhere(): boolean {
  return true
}

/** For rules about what runs as the server or the client, tests left out. */
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

/** Imports of values from `modules`: any, or of `names`, or (unless `whole` is false) of the module as a whole. */
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

/** Finds what any of them finds, each line once. */
export function anyOf(...finds: readonly Find[]): Find {
  return (file) => [...new Set(finds.flatMap((find) => find(file)))].sort((a, b) => a - b)
}

const UNBOUNDED = /^(?:[*+]|\{\d*,\})/

/** Lines of regular expressions in which a repetition is repeated. */
export function nestedRepetition({ source }: ReadFile): number[] {
  return source.regexes.filter(({ text }) => repeatsRepetition(text)).map(({ start }) => lineAt(source.code, start))
}

/** Whether a group that holds an unbounded repetition is itself repeated, as in `(a+)*`. */
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

/** By file: what it looks up all the same, each with its reason. One that nothing needs is refused. */
export type KnownLookUps = Readonly<Record<string, Readonly<Record<string, string>>>>
