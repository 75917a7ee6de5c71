// Reads the imports of a file: the names, their source, and whether anything is left when types are stripped.
import { lineAt, type SourceText } from './source-text.ts'

/** One statement or call that names another file or package. */
export type Import = {
  readonly line: number
  /** The specifier as written; undefined if `import()` gets a computed one. */
  readonly specifier: string | undefined
  /** The names as the other file exports them; `*` for all. Those marked as types are left out. */
  readonly names: readonly string[]
  /** True for `import type` and `export type`, of which nothing is left at run time. */
  readonly typeOnly: boolean
  readonly dynamic: boolean
}

const CALL = /import\s*\(\s*/y
const BARE = /import\s*(?=['"])/y
const NAMES = String.raw`(?:[\w$]+\s*,\s*)?(?:\*(?:\s*as\s+[\w$]+)?|\{[^}]*\}|[\w$]+)`
const TYPE = String.raw`(?<type>\s+type\b(?!\s*(?:,|from\b)))?`
const FROM = new RegExp(String.raw`(?:import|export)\b${TYPE}\s*(?<names>${NAMES})\s*\bfrom\s*(?=['"])`, 'y')

/** Returns all imports of a file, in order, `export … from` included. */
export function readImports(source: SourceText): Import[] {
  const texts = new Map(source.strings.map((literal) => [literal.start, literal.text]))
  const found: Import[] = []
  for (const { index } of source.code.matchAll(/(?<![.\w$])(?:import|export)\b/g)) {
    const match = [CALL, BARE, FROM].map((form) => matchAt(form, source.code, index)).find((m) => m !== null)
    if (match === undefined) continue
    const dynamic = match[0].includes('(')
    found.push({
      line: lineAt(source.code, index),
      specifier: texts.get(index + match[0].length),
      names: dynamic ? ['*'] : namesOf(match.groups?.names ?? ''),
      typeOnly: match.groups?.type !== undefined,
      dynamic,
    })
  }
  return found
}

function matchAt(form: RegExp, text: string, offset: number): RegExpExecArray | null {
  form.lastIndex = offset
  return form.exec(text)
}

/** `a, { b as c, type D }` gives default and b; `* as e` gives *. */
function namesOf(clause: string): string[] {
  const [outside = '', inside = ''] = clause.replace('}', '').split('{')
  const whole = outside.split(',').map((part) => part.trim())
  const single = inside.split(',').map((part) => part.trim().split(/\s+/))
  return [
    ...whole.filter((part) => part !== '').map((part) => (part.startsWith('*') ? '*' : 'default')),
    ...single.filter(([first, second]) => first !== 'type' || second === undefined).map(([first = '']) => first),
  ].filter((name) => name !== '')
}
