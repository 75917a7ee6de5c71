import { fail } from '../api/errors.ts'
import { sanitizePolicies } from '../auth/token-rules.ts'

/**
 * Policies for an entity or a group, normalised before anything is decided by their names (threats I-01).
 * @throws Refusal for names that none may have; `root`, in whatever spelling, is one
 */
export function identityPolicies(names: readonly string[] | undefined): readonly string[] | undefined {
  if (names === undefined) return undefined
  const policies = sanitizePolicies(names)
  if (policies.includes('root')) throw fail('field_invalid', ['policies', 'must not hold root: it is for tokens alone'])
  return policies.sort()
}
