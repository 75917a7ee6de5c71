// A key that several people hold together. With one share the share is the key itself.
import { copySecret } from '../../crypto/primitives/secret-bytes.ts'
import { combineShares, ShareError, splitSecret } from '../../crypto/primitives/shamir.ts'
import type { World } from '../../lib/world.ts'

/** Of each key that is split: an unseal key or a recovery key. */
export const SHARED_KEY_BYTES = 32

export type ShareConfig = { readonly shares: number; readonly threshold: number }

export function splitKey(key: Buffer, { shares, threshold }: ShareConfig, random: World['random']): readonly Buffer[] {
  if (shares > 1) return splitSecret(key, shares, threshold, random.bytes)
  return [copySecret(key)]
}

/**
 * Undefined where they cannot belong together, or give what is too short or too long for a key. Whether they do belong
 * together, only the key they give can tell.
 */
export function combineKey(given: readonly Buffer[], { shares }: ShareConfig): Buffer | undefined {
  const combined = shares === 1 ? copyFirst(given) : combine(given)
  if (combined?.length === SHARED_KEY_BYTES) return combined
  combined?.fill(0)
  return undefined
}

const copyFirst = ([first]: readonly Buffer[]): Buffer | undefined => (first === undefined ? first : copySecret(first))

function combine(given: readonly Buffer[]): Buffer | undefined {
  try {
    return combineShares(given)
  } catch (cause) {
    if (cause instanceof ShareError) return undefined
    throw cause
  }
}

export function wipeAll(secrets: readonly Buffer[]): void {
  for (const secret of secrets) secret.fill(0)
}
