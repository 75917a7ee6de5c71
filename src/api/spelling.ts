// Names in paths that go by several spellings. An endpoint declares of a field how its name is kept
// (`Field.canonical`, `Endpoint.spelling`): the request goes on with that one, so policy, audit, quotas and handler
// see no other. What operators wrote of paths, rules of policies above all, is brought to the same form here.

import { asciiLowerCase, asciiTrim } from '../lib/ascii.ts'
import { CidrError, normalizeCidr } from '../lib/cidr.ts'

/** Of a name the one spelling that it is kept under. Wildcards and slashes are no part of any. */
export type Fold = (name: string) => string

/** A literal text, or how the name in its place is kept; undefined: as it came. */
export type ShapeSegment = string | Fold | undefined

/** The path of an endpoint inside its mount, where at least one name is folded. */
export type PathShape = {
  readonly segments: readonly ShapeSegment[]
  /** The last segment stands for all that follows. */
  readonly endsInRest: boolean
}

/** That path at its mount. */
export type PlacedShape = {
  /** Ends in '/'. */
  readonly mountPath: string
  readonly shape: PathShape
}

/** Stands for what comes where a pattern ends in a star: a name there goes on, so blanks at its end are not its end. */
const NEXT = 'x'

/**
 * A pattern of paths (segments of `+`, a star at its end) with its names as they are kept where it is about the shape;
 * undefined where it is about no path of the shape.
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

/** As a policy is kept, whatever its name is in a path or a list. */
export const keptPolicyName: Fold = (name) => asciiLowerCase(asciiTrim(name))

/** An address or block as it is kept; what is none stays. */
export const keptCidr: Fold = (text) => {
  try {
    return normalizeCidr(text)
  } catch (cause) {
    if (cause instanceof CidrError) return text
    throw cause
  }
}
