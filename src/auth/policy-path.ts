// The path of a policy rule: which requests it matches, and the templates in it that the caller's identity fills.
import { PolicyError, quoteForMessage } from './policy-error.ts'

/** `exact`: one path. `prefix`: every path that begins so. `segment`: some segments are free; may end in a star too. */
export type PathKind = 'exact' | 'prefix' | 'segment'

/** A template in a path, filled from the identity behind the token. */
export type TemplateReference = {
  readonly subject: 'entity' | 'alias' | 'group-by-id' | 'group-by-name'
  /** Mount accessor of the alias, or id or name of the group; empty for the entity. */
  readonly selector: string
  readonly field: 'id' | 'name' | 'metadata' | 'custom_metadata'
  /** Metadata key; empty for id and name. */
  readonly key: string
}

/**
 * Returns the identity's value for a reference; undefined if it has none. A name of a group means one of the namespace
 * with the id, that of the policy: whoever makes groups elsewhere does not fill its templates.
 */
export type TemplateResolver = (reference: TemplateReference, namespaceId: string) => string | undefined

/** The parsed path of a rule. Kind and wildcards are known before templates are filled, since values can add none. */
export type PathPattern = {
  readonly kind: PathKind
  /** Literal texts and references in order. The star that ends a pattern is the end of the last literal text. */
  readonly parts: readonly (string | TemplateReference)[]
}

/**
 * Parses the path of a rule; a leading slash is ignored.
 * @throws PolicyError if wildcards or templates are malformed.
 */
export function parsePathPattern(text: string): PathPattern {
  const parts = splitTemplates(text.startsWith('/') ? text.slice(1) : text)
  // Values never hold a slash or a wildcard (see fillPattern), so any letter may stand for them here.
  const shape = parts.map((part) => (typeof part === 'string' ? part : 'x')).join('')
  if (shape.includes('+*'))
    throw new PolicyError(`path ${quoteForMessage(text)}: "+*" is not allowed, use "+/*" or "*"`)
  return { kind: kindOf(shape), parts }
}

/**
 * A segment that begins with `+` makes a segment rule, though only a segment of nothing else is free. A star has a
 * meaning only as the very last character.
 */
function kindOf(shape: string): PathKind {
  if (shape.startsWith('+') || shape.includes('/+')) return 'segment'
  return shape.endsWith('*') ? 'prefix' : 'exact'
}

/** True if the path depends on the identity: such rules cannot be shared between subjects. */
export function isTemplated(pattern: PathPattern): boolean {
  return pattern.parts.some((part) => typeof part !== 'string')
}

/** Why a template stays unfilled: the identity has no value, or one that must not stand in a path. */
export type UnfilledReason = 'no-value' | 'unsafe-value'

/** A path with its templates filled, or the reason why it cannot be. */
export type FilledPath = { readonly text: string } | { readonly unfilled: UnfilledReason }

/**
 * Fills templates of a policy of the namespace with the identity's values. Without `resolve` no template has a value.
 */
export function fillPattern(
  pattern: PathPattern,
  resolve: TemplateResolver | undefined,
  namespaceId: string,
): FilledPath {
  let text = ''
  for (const part of pattern.parts) {
    if (typeof part === 'string') {
      text += part
      continue
    }
    const value = resolve?.(part, namespaceId)
    if (value === undefined || value === '') return { unfilled: 'no-value' }
    if (!isSafeValue(value)) return { unfilled: 'unsafe-value' }
    text += value
  }
  return { text }
}

/** True if a pattern can match paths below `folder`, which ends in '/', whether or not it also matches the folder. */
export function mayMatchBelow(kind: PathKind, pattern: string, folder: string): boolean {
  if (kind !== 'segment') return pattern.startsWith(folder)
  const wanted = pattern.split('/')
  // Splitting leaves an empty last part behind the folder's final slash; any segment of the pattern there is below the
  // folder.
  return folder.split('/').every((part, at, parts) => {
    const segment = wanted[at]
    return segment !== undefined && (at === parts.length - 1 || segment === '+' || segment === part)
  })
}

/**
 * A value with a slash or a wildcard would widen the rule to paths that its author did not name (threats A-03). Control
 * characters and broken UTF-16 are refused with it.
 */
function isSafeValue(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    const isControl = code < 0x20 || (code >= 0x7f && code <= 0x9f)
    if (isControl || code === 0x2a || code === 0x2b || code === 0x2f) return false
  }
  return value.isWellFormed()
}

function splitTemplates(text: string): (string | TemplateReference)[] {
  const parts: (string | TemplateReference)[] = []
  let from = 0
  for (;;) {
    const open = text.indexOf('{{', from)
    const literal = open === -1 ? text.slice(from) : text.slice(from, open)
    if (literal.includes('}}')) throw malformed(text, '"}}" without "{{"')
    if (literal !== '' || (open === -1 && parts.length === 0)) parts.push(literal)
    if (open === -1) return parts
    const close = text.indexOf('}}', open + 2)
    if (close === -1) throw malformed(text, '"{{" without "}}"')
    const inside = text.slice(open + 2, close)
    const reference = inside.includes('{{') ? undefined : parseReference(trimBlanks(inside))
    if (reference === undefined)
      throw malformed(text, 'unknown template, use {{identity.entity.…}} or {{identity.groups.…}}')
    parts.push(reference)
    from = close + 2
  }
}

function malformed(path: string, problem: string): PolicyError {
  return new PolicyError(`path ${quoteForMessage(path)}: ${problem}`)
}

function parseReference(text: string): TemplateReference | undefined {
  const [root, afterRoot] = cut(text)
  const [kind, rest] = cut(afterRoot)
  if (root !== 'identity') return undefined
  if (kind === 'entity') {
    const [first, afterFirst] = cut(rest)
    if (first !== 'aliases') return leaf('entity', '', rest, ['id', 'name', 'metadata'])
    const [accessor, field] = cut(afterFirst)
    return accessor === '' ? undefined : leaf('alias', accessor, field, ['id', 'name', 'metadata', 'custom_metadata'])
  }
  if (kind !== 'groups') return undefined
  const [by, afterBy] = cut(rest)
  const [selector, field] = cut(afterBy)
  if (selector === '') return undefined
  if (by === 'ids') return groupById(selector, field)
  return by === 'names' ? leaf('group-by-name', selector, field, ['id', 'metadata']) : undefined
}

/** The id of a group may end in that of its namespace, behind a dot; no field is called as a namespace is. */
function groupById(selector: string, rest: string): TemplateReference | undefined {
  const [ending, field] = cut(rest)
  const allowed = ['name', 'metadata'] as const
  return leaf('group-by-id', selector, rest, allowed) ?? leaf('group-by-id', `${selector}.${ending}`, field, allowed)
}

function leaf(
  subject: TemplateReference['subject'],
  selector: string,
  text: string,
  allowed: readonly TemplateReference['field'][],
): TemplateReference | undefined {
  const [name, key] = cut(text)
  const field = allowed.find((candidate) => candidate === name)
  if (field === undefined) return undefined
  const hasKey = field === 'metadata' || field === 'custom_metadata'
  // `metadata.KEY` needs its key, which may contain dots; `id.` and `id.x` mean nothing.
  const isWhole = hasKey ? key !== '' : name === text
  return isWhole ? { subject, selector, field, key } : undefined
}

/** Splits a text at its first dot. */
function cut(text: string): [string, string] {
  const point = text.indexOf('.')
  return point === -1 ? [text, ''] : [text.slice(0, point), text.slice(point + 1)]
}

function trimBlanks(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && (text[from] === ' ' || text[from] === '\t')) from += 1
  while (to > from && (text[to - 1] === ' ' || text[to - 1] === '\t')) to -= 1
  return text.slice(from, to)
}
