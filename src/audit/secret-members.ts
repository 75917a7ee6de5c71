// What of a request's data is secret whatever type it was sent as: a password of digits may come as a number.
import type { Endpoint } from '../api/endpoint.ts'
import type { SecretMembers } from './redactor.ts'

/** Of a batch, members of these kinds are no secret themselves. */
const READABLE_KINDS: ReadonlySet<string> = new Set(['int', 'number', 'bool', 'duration'])

const KNOWN = new WeakMap<Endpoint, SecretMembers | null>()

/** Fields that the endpoint calls secret, each with what stays readable below it; undefined where it has none. */
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
