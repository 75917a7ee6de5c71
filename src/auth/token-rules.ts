// Rules that hold for every token, however it is made.
import { fail } from '../api/errors.ts'
import type { LoginMethod } from '../api/login-method.ts'
import type { MountEntry } from '../api/mount.ts'
import { UNASSIGNABLE_POLICIES } from './builtin-policies.ts'
import { normalizePolicyName, PolicyError } from './policy.ts'

/** TTL limits of the system or a mount, in seconds. */
export type TokenLimits = { readonly defaultTtlSeconds: number; readonly maxTtlSeconds: number }

/**
 * Limits of a list of policies: names in it, and characters of each. They bound a token's entry and its joined rules.
 */
const MAX_POLICIES = 256
const MAX_POLICY_NAME_LENGTH = 128

/**
 * Returns the names in canonical form, without duplicates.
 * @throws Refusal for names that no token may have, and for too many.
 */
export function sanitizePolicies(names: readonly string[]): string[] {
  const result = new Set<string>()
  for (const raw of names) {
    let name: string
    try {
      name = normalizePolicyName(raw)
    } catch (cause) {
      if (cause instanceof PolicyError) throw fail('field_invalid', ['policies', cause.message], cause)
      throw cause
    }
    if (UNASSIGNABLE_POLICIES.has(name)) throw fail('not_assignable', [`cannot assign policy "${name}"`])
    if (name.length > MAX_POLICY_NAME_LENGTH) {
      throw fail('out_of_range', ['policies', `a name has at most ${MAX_POLICY_NAME_LENGTH} characters`])
    }
    if (name !== '') result.add(name)
  }
  if (result.size > MAX_POLICIES) throw fail('out_of_range', ['policies', `must be at most ${MAX_POLICIES}`])
  return [...result]
}

/** Path of the built-in mount of tokens, whose limits hold for tokens that no login gave. */
export const TOKEN_MOUNT = 'auth/token/'

/** What creation and renewal of tokens need of the mount table. */
export interface LoginMounts {
  /** The mount at a path of the namespace with this id. */
  findIn(namespaceId: string, path: string): MountEntry | undefined
  /** Returns the login mount with this UUID; undefined if it was removed. */
  loginMethod(uuid: string): { readonly mount: MountEntry; readonly method: LoginMethod } | undefined
}
