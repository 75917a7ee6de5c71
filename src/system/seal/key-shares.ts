// A key split into shares for several holders (Shamir over GF(2^8), src/crypto/primitives/shamir.ts). With a single
// share, the share is the key itself: Shamir's scheme needs two.
import { copySecret } from '../../crypto/primitives/secret-bytes.ts'
import { combineShares, ShareError, splitSecret } from '../../crypto/primitives/shamir.ts'
import type { World } from '../../lib/world.ts'

/** Length of a key that is split, an unseal key or a recovery key: they are used as keys of AES-256. */
export const SHARED_KEY_BYTES = 32

/** How many shares there are, and how many of them give the key. Checked by `checkShareNumbers`. */
export type ShareConfig = { readonly shares: number; readonly threshold: number }

/** Returns the shares of `key`, in memory that the caller wipes. */
export function splitKey(key: Buffer, { shares, threshold }: ShareConfig, random: World['random']): readonly Buffer[] {
  if (shares > 1) return splitSecret(key, shares, threshold, random.bytes)
  return [copySecret(key)]
}

/**
 * Combines shares; the caller wipes the result. Undefined if they cannot belong together or do not give the length of a
 * key. A result proves nothing yet: shares of different keys combine too, and only what the key opens can tell.
 */
export function combineKey(given: readonly Buffer[], { shares }: ShareConfig): Buffer | undefined {
  const combined = shares === 1 ? copyFirst(given) : combine(given)
  if (combined?.length === SHARED_KEY_BYTES) return combined
  combined?.fill(0)
  return undefined
}

/** A copy, as `combineShares` makes one: the caller wipes shares and key apart. */
const copyFirst = ([first]: readonly Buffer[]): Buffer | undefined => (first === undefined ? first : copySecret(first))

function combine(given: readonly Buffer[]): Buffer | undefined {
  try {
    return combineShares(given)
  } catch (cause) {
    if (cause instanceof ShareError) return undefined
    throw cause
  }
}

/** Overwrites secrets with zeros. */
export function wipeAll(secrets: readonly Buffer[]): void {
  for (const secret of secrets) secret.fill(0)
}
