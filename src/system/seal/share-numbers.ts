// The rules for numbers of shares, for initialisation and rekeying alike.
import { fail } from '../../api/errors.ts'
import { MAX_SHARES } from '../../crypto/primitives/shamir.ts'

/** Checks numbers from a request; `kind` is the first part of the fields' names. @throws Refusal naming the field */
export function checkShareNumbers(kind: 'secret' | 'recovery', shares: number, threshold: number): void {
  const [sharesField, thresholdField] = [`${kind}_shares`, `${kind}_threshold`]
  if (shares < 1) throw fail('out_of_range', [sharesField, 'invalid seal configuration: shares must be at least one'])
  if (shares > MAX_SHARES) throw fail('out_of_range', [sharesField, `must be at most ${MAX_SHARES}`])
  if (threshold < 1)
    throw fail('out_of_range', [thresholdField, 'invalid seal configuration: threshold must be at least one'])
  if (threshold > shares) throw fail('out_of_range', [thresholdField, `must not be larger than ${sharesField}`])
  // Every share would be the key itself.
  if (shares > 1 && threshold === 1)
    throw fail('out_of_range', [thresholdField, 'must be at least 2 where there are several shares'])
}
