// Headers that a mount passes on: those of a request that its engine gets to see, and those of an answer that it may
// set. What gives access passes in neither direction, and what says how an answer is to be read or who may read it
// belongs to the server.
import { isCredentialHeader } from './credential-headers.ts'

export const MAX_PASSED_HEADERS = 64
export const MAX_HEADER_NAME_CHARACTERS = 128

/** Values by names in lower case. */
export type PassedHeaders = Readonly<Record<string, string>>
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

/** Undefined where an engine may see the header; else what is wrong with it. */
export function whyNotSeen(name: string): string | undefined {
  if (!isName(name)) return 'must be names of headers: letters, digits and "-"'
  return isCredentialHeader(name.toLowerCase()) ? `must not name ${name}, which gives access` : undefined
}

/** Undefined where an engine may set the header; else what is wrong with it. */
export function whyNotSet(name: string): string | undefined {
  const lower = name.toLowerCase()
  const isOwn = OWN.has(lower) || OWN_PREFIXES.some((prefix) => lower.startsWith(prefix))
  return whyNotSeen(name) ?? (isOwn ? `must not name ${name}, which is the server's own` : undefined)
}

/** Those of `found` that are named and may be seen, whatever was stored by another version. */
export function seen(found: PassedHeaders, names: readonly string[]): PassedHeaders {
  return picked(found, names, whyNotSeen)
}

/** Those of an engine's answer that are named, may be set, and can be sent. */
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
