// Names in paths that have several spellings. An endpoint declares the canonical spelling of a field
// (`Field.canonical`, `Endpoint.spelling`). The request continues with that one, so policy, audit, quotas and handler
// see no other. Paths that operators wrote, above all in rules of policies, are brought to the same form here.

import { asciiLowerCase, asciiTrim } from '../lib/ascii.ts'
import { CidrError, normalizeCidr } from '../lib/cidr.ts'

/** Returns the canonical spelling of a name. Wildcards and slashes never belong to a name. */
export type Fold = (name: string) => string

/** A literal text, or the fold of the name there; undefined for a name with one spelling. */
export type ShapeSegment = string | Fold | undefined

/** The path of an endpoint inside its mount, with at least one name that is folded. */
export type PathShape = {
  readonly segments: readonly ShapeSegment[]
  /** True if the last segment stands for everything that follows. */
  readonly endsInRest: boolean
}

/** That path together with the path of its mount. */
export type PlacedShape = {
  /** Ends in '/'. */
  readonly mountPath: string
  readonly shape: PathShape
}

/**
 * Stands for the continuation of a pattern that ends in a star: the name goes on there, so blanks before the star are
 * not at its end and must not be trimmed.
 */
const NEXT = 'x'

/**
 * Folds the names of a pattern (segments of `+`, a star at its end) according to the shape. Returns undefined if the
 * pattern matches no path of the shape. With `isExact` a star is an ordinary character, and `+` matches no literal
 * segment.
 */
export function foldedPattern(
  { mountPath, shape }: PlacedShape,
  pattern: string,
  isExact: boolean,
): string | undefined {
  const endsInStar = !isExact && pattern.endsWith('*')
  const wanted = (endsInStar ? pattern.slice(0, -1) : pattern).split('/')
  const segments = [...mountPath.split('/').slice(0, -1), ...shape.segments]
  const rest = shape.endsInRest ? segments.length - 1 : Infinity
  const last = wanted.length - 1
  const folded: string[] = []
  for (const [at, text] of wanted.entries()) {
    const segment = segments[at]
    const isBeginning = endsInStar && at === last
    if (at === rest) {
      const fold = typeof segment === 'function' ? segment : undefined
      return [...folded, foldedText(wanted.slice(at).join('/'), fold, endsInStar)].join('/') + (endsInStar ? '*' : '')
    }
    if (typeof segment === 'string') {
      const fits = text === segment || (!isExact && text === '+') || (isBeginning && segment.startsWith(text))
      if (!fits) return undefined
      folded.push(text)
    } else folded.push(foldedText(text, segment, isBeginning))
  }
  return folded.join('/') + (endsInStar ? '*' : '')
}

function foldedText(text: string, fold: Fold | undefined, isBeginning: boolean): string {
  if (fold === undefined || text === '+') return text
  return isBeginning ? fold(text + NEXT).slice(0, -NEXT.length) : fold(text)
}

/** Folds the name of a policy, in paths and in lists. */
export const keptPolicyName: Fold = (name) => asciiLowerCase(asciiTrim(name))

/** Folds an address or block; other text is returned unchanged. */
export const keptCidr: Fold = (text) => {
  try {
    return normalizeCidr(text)
  } catch (cause) {
    if (cause instanceof CidrError) return text
    throw cause
  }
}
