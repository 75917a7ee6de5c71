// Writes the path of a request as an entry shows it: in clear, except for tokens in it. If the endpoint is known, its
// fields tell which segments are secret. For an unknown path or method, or another namespace, everything is masked that
// looks like a token, or stands where one is expected.
import type { Endpoint } from '../api/endpoint.ts'
import { parsePattern, type Segment } from '../api/pattern.ts'
import { own } from '../lib/own.ts'

/** Returns what may be shown of a secret. */
export type Mask = (secret: string) => string

/** Masks the secret segments of a path that leads to an endpoint. `path` begins with the path of its mount. */
export function routedPath(endpoint: Endpoint, mountPath: string, path: string, mask: Mask): string {
  const pattern = secretPattern(endpoint)
  if (pattern === undefined) return path
  const isSecret = (segment: Segment | undefined): boolean =>
    segment !== undefined && segment.kind !== 'literal' && own(endpoint.fields, segment.name)?.secret === true
  const shown: string[] = []
  const segments = path.slice(mountPath.length).split('/')
  for (const [at, text] of segments.entries()) {
    const segment = pattern[at]
    if (segment?.kind === 'rest') {
      const rest = segments.slice(at).join('/')
      return mountPath + [...shown, isSecret(segment) ? mask(rest) : rest].join('/')
    }
    shown.push(isSecret(segment) && text !== '' ? mask(text) : text)
  }
  return mountPath + shown.join('/')
}

const PATTERNS = new WeakMap<Endpoint, Segment[] | null>()

/** Returns the pattern of the path, or undefined if nothing in it is secret. */
function secretPattern(endpoint: Endpoint): Segment[] | undefined {
  let known = PATTERNS.get(endpoint)
  if (known === undefined) {
    const pattern = endpoint.path.includes(':') ? parsePattern(endpoint.path) : []
    const has = pattern.some((part) => part.kind !== 'literal' && own(endpoint.fields, part.name)?.secret === true)
    known = has ? pattern : null
    PATTERNS.set(endpoint, known)
  }
  return known ?? undefined
}

/** Prefixes of tokens: ours, those of old servers, and those in JWT form. */
const TOKEN = /^(?:hv[sbr]\.|[sbr]\.|eyJ)./
/** Names of folders in lease ids are shorter than this; the token's name at the end of the id is longer. */
const LONGEST_LEASE_FOLDER = 20

/** Masks a path that leads to no endpoint, given as it was sent or in canonical form. */
export function unroutedPath(path: string, mask: Mask): string {
  const segments = path.split('/')
  const names = segments.map(decoded)
  let expects: 'token' | 'lease' | undefined
  const shown = segments.map((segment, at) => {
    const name = names[at] as string
    const isToken =
      TOKEN.test(name) || expects === 'token' || (expects === 'lease' && name.length > LONGEST_LEASE_FOLDER)
    expects = isExpectedBehind(names[at - 2], names[at - 1], name) ?? expects
    return isToken && name !== '' ? mask(name) : segment
  })
  return shown.join('/')
}

/**
 * Returns what is expected after the three segments. They count at any depth, since a namespace may stand before them.
 */
function isExpectedBehind(first = '', second = '', third: string): 'token' | 'lease' | undefined {
  if (first === 'auth' && second === 'token' && /^(?:lookup|renew|revoke)/.test(third)) return 'token'
  if (first === 'sys' && second === 'wrapping') return 'token'
  if (second === 'sys' && third === 'leases') return 'lease'
  return undefined
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
