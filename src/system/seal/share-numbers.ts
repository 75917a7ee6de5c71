import { fail } from '../../api/errors.ts'

export const MAX_SHARES = 255

/** `kind` begins the names of the fields. @throws Refusal naming the field */
export function checkShareNumbers(kind: 'secret' | 'recovery', shares: number, threshold: number): void {
  const [sharesField, thresholdField] = [`${kind}_shares`, `${kind}_threshold`]
  if (shares < 1) throw fail('field_invalid', [sharesField, 'invalid seal configuration: shares must be at least one'])
  if (shares > MAX_SHARES) throw fail('field_invalid', [sharesField, `must be at most ${MAX_SHARES}`])
  if (threshold < 1)
    throw fail('field_invalid', [thresholdField, 'invalid seal configuration: threshold must be at least one'])
  if (threshold > shares) throw fail('field_invalid', [thresholdField, `must not be larger than ${sharesField}`])
  if (shares > 1 && threshold === 1)
    throw fail('field_invalid', [thresholdField, 'must be at least 2 where there are several shares'])
}
