// Headers that a mount passes on: request headers that its engine sees, and answer headers that it may set. Headers
// that give access pass in neither direction. Headers that tell how an answer is to be read, or who may read it, are
// the server's own.
import { isCredentialHeader } from './credential-headers.ts'

/** Most headers of one list of a mount. */
export const MAX_PASSED_HEADERS = 64
/** Longest name of such a header. */
export const MAX_HEADER_NAME_CHARACTERS = 128

/** Values by names in lower case. */
export type PassedHeaders = Readonly<Record<string, string>>
/** No headers; shared and frozen, so most requests allocate none. */
export const NO_HEADERS: PassedHeaders = Object.freeze(Object.create(null))

const OWN: ReadonlySet<string> = new Set([
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-security-policy',
  'content-type',
  'date',
  'keep-alive',
  'retry-after',
  'strict-transport-security',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'vary',
  'x-content-type-options',
])
const OWN_PREFIXES = ['x-vault-', 'access-control-', 'x-ratelimit-']

const isName = (name: string): boolean => name.length <= MAX_HEADER_NAME_CHARACTERS && /^[A-Za-z0-9-]+$/.test(name)

/** Returns undefined if an engine may see the header; otherwise what is wrong with it, to follow the field's name. */
export function whyNotSeen(name: string): string | undefined {
  if (!isName(name)) return 'must be names of headers: letters, digits and "-"'
  return isCredentialHeader(name.toLowerCase()) ? `must not name ${name}, which gives access` : undefined
}

/** Returns undefined if an engine may set the header; otherwise what is wrong with it. */
export function whyNotSet(name: string): string | undefined {
  const lower = name.toLowerCase()
  const isOwn = OWN.has(lower) || OWN_PREFIXES.some((prefix) => lower.startsWith(prefix))
  return whyNotSeen(name) ?? (isOwn ? `must not name ${name}, which is the server's own` : undefined)
}

/**
 * The headers of `found` that are named and may be seen. Names are checked again, since another version may have stored
 * them.
 */
export function seen(found: PassedHeaders, names: readonly string[]): PassedHeaders {
  return picked(found, names, whyNotSeen)
}

/** The headers of an engine's answer that are named, may be set, and can be sent. */
export function settable(given: PassedHeaders, names: readonly string[]): PassedHeaders {
  const lower = Object.create(null)
  for (const [name, value] of Object.entries(given))
    if (/^[\t\x20-\x7e]*$/.test(value)) lower[name.toLowerCase()] = value
  return picked(lower, names, whyNotSet)
}

function picked(
  from: PassedHeaders,
  names: readonly string[],
  whyNot: (name: string) => string | undefined,
): PassedHeaders {
  const kept: Record<string, string> = Object.create(null)
  for (const name of names) {
    const lower = name.toLowerCase()
    const value = Object.hasOwn(from, lower) ? from[lower] : undefined
    if (value !== undefined && whyNot(name) === undefined) kept[lower] = value
  }
  return kept
}
