// What holds for every token, however it is made.
import { fail } from '../api/errors.ts'
import type { LoginMethod } from '../api/login-method.ts'
import type { MountEntry } from '../api/mount.ts'
import { UNASSIGNABLE_POLICIES } from './builtin-policies.ts'
import { normalizePolicyName, PolicyError } from './policy.ts'

export type TokenLimits = { readonly defaultTtlSeconds: number; readonly maxTtlSeconds: number }

const MAX_POLICIES = 256
const MAX_POLICY_NAME_LENGTH = 128

/** Normalised, without doubles; names that cannot be given to a token are refused. */
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

export const TOKEN_MOUNT = 'auth/token/'

/** What making and renewing tokens needs of the mount table. */
export interface LoginMounts {
  find(path: string): MountEntry | undefined
  /** The login mount with this UUID, if it is still there. */
  loginMethod(uuid: string): { readonly mount: MountEntry; readonly method: LoginMethod } | undefined
}
