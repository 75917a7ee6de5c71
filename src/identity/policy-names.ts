import { fail } from '../api/errors.ts'
import { sanitizePolicies } from '../auth/token-rules.ts'

/**
 * Returns the policies for an entity or a group: normalised before anything is decided by their names (threats I-01),
 * and sorted. Undefined if none were sent.
 * @throws Refusal for names that no policy may have, and for `root` in any spelling
 */
export function identityPolicies(names: readonly string[] | undefined): readonly string[] | undefined {
  if (names === undefined) return undefined
  const policies = sanitizePolicies(names)
  if (policies.includes('root')) throw fail('field_invalid', ['policies', 'must not hold root: it is for tokens alone'])
  return policies.sort()
}
