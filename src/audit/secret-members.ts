// Finds the members of a request that are secret whatever type they were sent as: a password
// of digits may come as a number.
import type { Endpoint } from '../api/endpoint.ts'
import type { SecretMembers } from './redactor.ts'

/** Kinds of members of a batch that are no secrets themselves. */
const READABLE_KINDS: ReadonlySet<string> = new Set(['int', 'number', 'bool', 'duration'])

const KNOWN = new WeakMap<Endpoint, SecretMembers | null>()

/**
 * Returns the fields that the endpoint marks as secret, each with the members below it that stay
 * readable. Undefined if there are none.
 */
export function secretMembers(endpoint: Endpoint): SecretMembers | undefined {
  let known = KNOWN.get(endpoint)
  if (known === undefined) {
    const found = membersOf(endpoint)
    known = found.size === 0 ? null : found
    KNOWN.set(endpoint, known)
  }
  return known ?? undefined
}

function membersOf({ fields }: Endpoint): SecretMembers {
  const found = new Map<string, ReadonlySet<string>>()
  for (const [name, { secret, members = {} }] of Object.entries(fields)) {
    if (!secret) continue
    const readable = Object.entries(members).filter(([, { kind }]) => READABLE_KINDS.has(kind))
    found.set(name, new Set(readable.map(([member]) => member)))
  }
  return found
}
