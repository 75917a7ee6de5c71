// The path of an endpoint as segments. It is never a regular expression: so the order of endpoints cannot matter, and
// OpenAPI follows from it.
/** A fixed text, a name, or the rest of the path. */
export type Segment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'rest'; readonly name: string }

/** Parses a pattern; optional parts in '(…)' are included. */
export function parsePattern(path: string): Segment[] {
  return path
    .replaceAll('(', '')
    .replaceAll(')', '')
    .split('/')
    .filter((text) => text !== '')
    .map((text): Segment => {
      if (!text.startsWith(':')) return { kind: 'literal', text }
      return text.endsWith('...') ? { kind: 'rest', name: text.slice(1, -3) } : { kind: 'name', name: text.slice(1) }
    })
}

/** Returns the forms of a pattern, the shortest first: `a(/:b)(/:c)` stands for a, a/:b and a/:b/:c. */
export function expandPattern(path: string): Segment[][] {
  const parts = path.split('(')
  const first = parts[0] ?? ''
  const forms = [first]
  for (const part of parts.slice(1)) forms.push(`${forms.at(-1)}${part.replace(')', '')}`)
  return forms.map(parsePattern)
}

/**
 * Returns the forms by which requests find the endpoint. The last optional segment can mean nothing else, so it takes
 * anything, slashes included, and its field reports what is wrong. In `a(/:b)(/:c)` the place of b also takes what is
 * no name.
 */
export function routedForms(path: string): Segment[][] {
  const forms = expandPattern(path)
  const [first = '', ...optional] = path.split('(')
  const last = optional.at(-1)
  if (last === undefined || last.endsWith('...)')) return forms
  const rest = last.replace(')', '...')
  const before = optional.length > 1 ? [first, first + optional.slice(0, -1).join('')] : [first]
  return [...forms, ...before.map((start) => parsePattern(start + rest))]
}

const WORD = 1
const INNER = 2
const CLASS = new Uint8Array(128)
for (const character of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_')
  CLASS[character.charCodeAt(0)] = WORD
for (const character of '-.') CLASS[character.charCodeAt(0)] = INNER

/**
 * True for a name: letters, digits and '_', inside also '-' and '.'. A path with anything else in its place is a 404.
 */
export function isName(text: string): boolean {
  const last = text.length - 1
  if (last < 0) return false
  for (let i = 0; i <= last; i++) {
    const kind = CLASS[text.charCodeAt(i)] ?? 0
    if (kind === 0 || (kind === INNER && (i === 0 || i === last))) return false
  }
  return true
}
