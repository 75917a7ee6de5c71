// The rights of a token: its own policies, and those of the entity and groups behind it. Names are those of the
// namespace in which each was given: the same name means another policy in another namespace.
import { isInside, type Namespaces } from '../api/namespace.ts'
import {
  type Identities,
  type IdentityPolicies,
  type NamespacedNames,
  NO_IDENTITY_POLICIES,
  type Subject,
} from './subject.ts'
import type { TokenEntry } from './token-entry.ts'

/** The policies that count for a token. The same parts give the same object again, so that caches can go by it. */
export type PolicyNames = IdentityPolicies & {
  /** The namespace of the token. */
  readonly namespaceId: string
  /** Policies of that namespace: those of the token itself, then those that only its entity and groups give. */
  readonly names: readonly string[]
  /** Differs from that of all others with other names. */
  readonly key: string
}

/** Which groups of other namespaces count: those below the one of the token, or all. */
export const GROUP_POLICY_MODES = ['within_namespace_hierarchy', 'any'] as const
/** One of them. */
export type GroupPolicyMode = (typeof GROUP_POLICY_MODES)[number]

/** What a request may be judged by. Found anew for each request, from cached parts. */
export type Rights = {
  readonly policies: PolicyNames
  /** The identity that fills templates in policies; undefined for a token without an entity. */
  readonly subject: Subject | undefined
}

type Holder = Pick<TokenEntry, 'policies' | 'entityId' | 'namespace'>
type Kept = {
  readonly given: readonly NamespacedNames[]
  readonly mode: GroupPolicyMode
  readonly generation: number
  readonly found: PolicyNames
}
type Parts = {
  readonly identities: Identities
  readonly namespaces: Namespaces
  /** A promise only at the first question after a change. */
  readonly mode: () => GroupPolicyMode | Promise<GroupPolicyMode>
}

const NONE: readonly NamespacedNames[] = []

/** Returns the policies of these names, which all are of one namespace unless `external` has others. */
export function policyNamesOf(
  namespaceId: string,
  names: readonly string[],
  { identity, external }: IdentityPolicies = NO_IDENTITY_POLICIES,
): PolicyNames {
  // What one set of names makes no other set makes, whatever is in a name: a peer may assert any.
  return { namespaceId, names, identity, external, key: JSON.stringify([namespaceId, names, external]) }
}

/** Finds the rights of tokens. Nothing of them is cached that could outlive a change of entity or groups. */
export class RightsFinder {
  readonly #parts: Parts
  /** By the policy list of a token's entry, which is the same array in every request of that token. */
  readonly #kept = new WeakMap<readonly string[], Kept>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Returns the rights of a token at this moment. One whose entity is disabled or gone has those of no policy. */
  async of(entry: Holder): Promise<Rights> {
    if (entry.entityId === '') return { policies: await this.policiesOf(entry, undefined), subject: undefined }
    const subject = await this.#parts.identities.subject(entry.entityId)
    if (subject === undefined || subject.disabled)
      return { policies: policyNamesOf(entry.namespace, []), subject: undefined }
    return { policies: await this.policiesOf(entry, subject), subject }
  }

  /** Returns the policies that count for a token whose subject is found. */
  policiesOf(entry: Omit<Holder, 'entityId'>, subject: Subject | undefined): PolicyNames | Promise<PolicyNames> {
    const given = subject?.policies ?? NONE
    // Most tokens have policies of their own namespace alone, and no mode changes anything for them.
    if (given.every(({ namespaceId }) => namespaceId === entry.namespace)) return this.#joined(entry, given, 'any')
    const mode = this.#parts.mode()
    return mode instanceof Promise
      ? mode.then((found) => this.#joined(entry, given, found))
      : this.#joined(entry, given, mode)
  }

  #joined(
    { policies, namespace }: Omit<Holder, 'entityId'>,
    given: readonly NamespacedNames[],
    mode: GroupPolicyMode,
  ): PolicyNames {
    const { generation } = this.#parts.namespaces
    const known = this.#kept.get(policies)
    const isSame = known?.given === given && known.mode === mode && known.generation === generation
    if (isSame && known.found.namespaceId === namespace) return known.found
    const identity = given.find(({ namespaceId }) => namespaceId === namespace)?.names ?? []
    const external = given.filter(
      ({ namespaceId }) => namespaceId !== namespace && this.#counts(namespaceId, namespace, mode),
    )
    const found = policyNamesOf(namespace, united(policies, identity), { identity, external })
    this.#kept.set(policies, { given, mode, generation, found })
    return found
  }

  /** What answers show of the policies that entity and groups give to a token at this moment. */
  identityPoliciesOf(entry: Holder): IdentityPolicies | Promise<IdentityPolicies> {
    if (entry.entityId === '') return NO_IDENTITY_POLICIES
    const subject = this.#parts.identities.subject(entry.entityId)
    return subject instanceof Promise
      ? subject.then((found) => this.policiesOf(entry, found))
      : this.policiesOf(entry, subject)
  }

  /** Groups grant downwards only, unless all count: in the namespace of the token, and in those below it. */
  #counts(ofGroup: string, ofToken: string, mode: GroupPolicyMode): boolean {
    const { namespaces } = this.#parts
    const inner = namespaces.byId(ofGroup)
    const outer = namespaces.byId(ofToken)
    if (inner === undefined || inner.isGoing || outer === undefined) return false
    return mode === 'any' || isInside(inner, outer)
  }
}

/** Returns all names, each once. `root` stands alone: nothing can be added to it. */
function united(own: readonly string[], others: readonly string[]): readonly string[] {
  return others.length === 0 || own[0] === 'root' ? own : [...new Set([...own, ...others])]
}
