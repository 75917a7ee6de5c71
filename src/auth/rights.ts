// What a token may do follows from its own policies and from those of whoever is behind it.
import type { Identities, Subject } from './subject.ts'
import type { TokenEntry } from './token-entry.ts'

export type Rights = {
  /** Of the token, its entity and its groups. */
  readonly policies: readonly string[]
  /** Whom the templates of the policies are about. */
  readonly subject: Subject | undefined
}

/** Nobody: whoever lost access has the rights of no policy. */
const NONE: Rights = { policies: [], subject: undefined }

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
/** By the list of a token's entry: for the next request of the same token it is the same array again. */
const UNIONS = new WeakMap<readonly string[], Union>()

/** All names, each once; the same array for the same two arrays. */
export function united(own: readonly string[], others: readonly string[]): readonly string[] {
  // `root` stands alone: nothing can be added to it.
  if (others.length === 0 || own[0] === 'root') return own
  const known = UNIONS.get(own)
  if (known?.others === others) return known.all
  const all = [...new Set([...own, ...others])]
  UNIONS.set(own, { others, all })
  return all
}
