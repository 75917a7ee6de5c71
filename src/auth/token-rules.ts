// Rules that hold for every token, however it is made.
import { fail } from '../api/errors.ts'
import type { LoginMethod } from '../api/login-method.ts'
import type { MountEntry } from '../api/mount.ts'
import { requirePolicyLimits } from '../api/token-settings.ts'
import { UNASSIGNABLE_POLICIES } from './builtin-policies.ts'
import { normalizePolicyName, PolicyError } from './policy.ts'

/** TTL limits of the system or a mount, in seconds. */
export type TokenLimits = { readonly defaultTtlSeconds: number; readonly maxTtlSeconds: number }

/**
 * Returns the names in canonical form, without duplicates. They came in the field, which a refusal names.
 * @throws Refusal for names that no token may have, and for too many.
 */
export function sanitizePolicies(names: readonly string[], field = 'policies'): string[] {
  const result = new Set<string>()
  for (const raw of names) {
    let name: string
    try {
      name = normalizePolicyName(raw)
    } catch (cause) {
      if (cause instanceof PolicyError) throw fail('field_invalid', [field, cause.message], cause)
      throw cause
    }
    if (UNASSIGNABLE_POLICIES.has(name)) throw fail('not_assignable', [`cannot assign policy "${name}"`])
    if (name !== '') result.add(name)
  }
  requirePolicyLimits(field, result)
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
