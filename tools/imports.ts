// The imports of a file: what it names, from where, and whether anything of it is left when the types are stripped.
import { lineAt, type SourceText } from './source-text.ts'

/** One statement or call that names another file or package. */
export type Import = {
  readonly line: number
  /** As written; undefined where `import()` is called with something that is computed. */
  readonly specifier: string | undefined
  /** As the other file calls them, `*` for all of it, without those that are marked as types. */
  readonly names: readonly string[]
  /** `import type` and `export type`: nothing of it is left at run time. */
  readonly typeOnly: boolean
  readonly dynamic: boolean
}

const CALL = /import\s*\(\s*/y
const BARE = /import\s*(?=['"])/y
const NAMES = String.raw`(?:[\w$]+\s*,\s*)?(?:\*(?:\s*as\s+[\w$]+)?|\{[^}]*\}|[\w$]+)`
const TYPE = String.raw`(?<type>\s+type\b(?!\s*(?:,|from\b)))?`
const FROM = new RegExp(String.raw`(?:import|export)\b${TYPE}\s*(?<names>${NAMES})\s*\bfrom\s*(?=['"])`, 'y')

/** All imports of a file, in order, those of `export … from` among them. */
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
