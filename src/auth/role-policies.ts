// Chooses the policies of a new token.
import { fail } from '../api/errors.ts'
import { matchGlob } from '../lib/glob.ts'
import type { TokenRole } from './token-role.ts'
import { sanitizePolicies } from './token-rules.ts'

/** What decides about the policies of a new token, collected by token-creation.ts. */
export type PolicyWish = {
  /** Empty if the request named none. */
  readonly requested: readonly string[]
  /** Undefined for a maker of another namespace: its policies mean nothing in that of the new token. */
  readonly ofParent: readonly string[] | undefined
  readonly hasSudo: boolean
  readonly withoutDefault: boolean
  readonly role: TokenRole | undefined
}

/**
 * Returns the policies, sorted; exactly `root` if that is among them. A child gets no policy that its parent lacks,
 * unless the caller has `sudo` or a role has lists of policies (threats T-05). Such a role decides alone: one that only
 * disallows gives any other policy that is requested, except `root`, which only a root token gives. A maker of another
 * namespace hands down nothing: it must have `sudo`, and gives what it names.
 * @throws Refusal if more is asked for than is allowed.
 */
export function policiesOfNew(wish: PolicyWish): readonly string[] {
  const { role } = wish
  const withoutDefault = wish.withoutDefault || role?.noDefaultPolicy === true
  const chosen =
    role !== undefined && isRestricting(role)
      ? policiesByRole(wish, role, withoutDefault)
      : policiesByParent(wish, withoutDefault)
  if (chosen.has('root')) {
    // Wire text.
    if (wish.ofParent === undefined)
      throw fail('beyond_own_rights', ['root tokens may not be created from a parent namespace'])
    if (!wish.ofParent.includes('root')) {
      throw fail('beyond_own_rights', ['root tokens may not be created without parent token being root'])
    }
    return ['root']
  }
  return [...chosen].sort()
}

const isRestricting = (role: TokenRole): boolean =>
  [role.allowedPolicies, role.allowedPoliciesGlob, role.disallowedPolicies, role.disallowedPoliciesGlob].some(
    (list) => list.length > 0,
  )

function policiesByParent(wish: PolicyWish, withoutDefault: boolean): Set<string> {
  const { ofParent, hasSudo } = wish
  const requested = sanitizePolicies(wish.requested)
  if (requested.includes('root') && ofParent?.includes('root') !== true) return new Set(['root'])
  if (requested.length > 0 && !hasSudo) {
    const beyond = requested.find((name) => ofParent?.includes(name) !== true)
    if (beyond !== undefined)
      throw fail('beyond_own_rights', [`child policies must be subset of parent, "${beyond}" is not`])
  }
  const chosen = new Set(requested.length > 0 ? requested : ofParent)
  if (withoutDefault) chosen.delete('default')
  else if (ofParent?.includes('default') !== false || (hasSudo && requested.length > 0)) chosen.add('default')
  return chosen
}

/** A role with policy lists decides alone: its tokens may have policies that their maker lacks. */
function policiesByRole(wish: PolicyWish, role: TokenRole, withoutDefault: boolean): Set<string> {
  const requested = sanitizePolicies(wish.requested)
  const isDisallowed = (name: string): boolean =>
    role.disallowedPolicies.includes(name) || matchesAny(role.disallowedPoliciesGlob, name)
  const withDefault = !withoutDefault && !isDisallowed('default')
  const hasAllowed = role.allowedPolicies.length > 0 || role.allowedPoliciesGlob.length > 0
  const isAllowed = (name: string): boolean =>
    (name === 'default' && withDefault) ||
    role.allowedPolicies.includes(name) ||
    matchesAny(role.allowedPoliciesGlob, name)
  const chosen = new Set(requested.length > 0 ? requested : hasAllowed ? role.allowedPolicies : wish.ofParent)
  if (withDefault) chosen.add('default')
  else if (withoutDefault) chosen.delete('default')
  for (const name of chosen) {
    if (hasAllowed && !isAllowed(name)) {
      const lists = `allowed are ${shown(role.allowedPolicies)} and globs ${shown(role.allowedPoliciesGlob)}`
      throw fail('not_assignable', [`token policy "${name}" is not among those of the role: ${lists}`])
    }
    if (isDisallowed(name)) throw fail('not_assignable', [`token policy "${name}" is disallowed by this role`])
  }
  return chosen
}

/** True if a glob matches. In lists of names a star alone stands for every name. */
export const matchesAny = (globs: readonly string[], name: string): boolean =>
  globs.some((glob) => glob === '*' || matchGlob(glob, name))

const shown = (names: readonly string[]): string => `[${names.join(', ')}]`
