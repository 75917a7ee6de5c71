// The rights of a token: its own policies, and those of the entity and groups behind it.
import type { Identities, Subject } from './subject.ts'
import type { TokenEntry } from './token-entry.ts'

/** What a request may be judged by. Found anew for each request, from cached parts. */
export type Rights = {
  /** Policies of the token, its entity and its groups. */
  readonly policies: readonly string[]
  /** The identity that fills templates in policies; undefined for a token without an entity. */
  readonly subject: Subject | undefined
}

/** The rights of a token whose entity is disabled or gone: those of no policy at all. */
const NONE: Rights = { policies: [], subject: undefined }

/**
 * Returns the rights of a token at this moment. Nothing of them is in the token's entry but its own policies, so a
 * change of entity or groups counts at once.
 */
export async function rightsOf(
  { policies, entityId }: Pick<TokenEntry, 'policies' | 'entityId'>,
  identities: Identities,
): Promise<Rights> {
  if (entityId === '') return { policies, subject: undefined }
  const subject = await identities.subject(entityId)
  if (subject === undefined || subject.disabled) return NONE
  return { policies: united(policies, subject.policies), subject }
}

type Union = { readonly others: readonly string[]; readonly all: readonly string[] }
/** Unions by the policy list of a token's entry, which is the same array in every request of that token. */
const UNIONS = new WeakMap<readonly string[], Union>()

/** Returns all names, each once. The same two arrays give the same array again, so that caches can go by it. */
export function united(own: readonly string[], others: readonly string[]): readonly string[] {
  // `root` stands alone: nothing can be added to it.
  if (others.length === 0 || own[0] === 'root') return own
  const known = UNIONS.get(own)
  if (known?.others === others) return known.all
  const all = [...new Set([...own, ...others])]
  UNIONS.set(own, { others, all })
  return all
}
