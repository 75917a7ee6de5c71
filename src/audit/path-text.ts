// The path of a request as an entry shows it: in clear, but for what is a token in it. Where the endpoint is known, its
// fields say so; where it is not (an unknown path, a method that is not there, another namespace), what looks like a
// token, or stands where one is expected, is taken for one.
import type { Endpoint } from '../api/endpoint.ts'
import { parsePattern, type Segment } from '../api/pattern.ts'
import { own } from '../lib/own.ts'

/** Makes of a secret what may be shown of it. */
export type Mask = (secret: string) => string

/** `path` begins with the path of its mount; the rest of it has the form of the endpoint's pattern. */
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

/** Undefined where nothing in the path is secret. */
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

/** The beginnings of tokens: ours, those of old servers, and of the JWT form of wrapping tokens. */
const TOKEN = /^(?:hv[sbr]\.|[sbr]\.|eyJ)./
/** Lease ids end in the name of a token; the names of folders before it are shorter. */
const LONGEST_LEASE_FOLDER = 20

/** A path that leads to no endpoint, as it was sent or canonical. */
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

/** What follows the three segments, at any depth: a namespace may stand before them. */
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
