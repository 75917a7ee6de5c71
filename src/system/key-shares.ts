// A key that several people hold together. With one share the share is the key itself.
import { copySecret } from '../crypto/secret-bytes.ts'
import { combineShares, ShareError, splitSecret } from '../crypto/shamir.ts'
import type { World } from '../lib/world.ts'

export type ShareConfig = { readonly shares: number; readonly threshold: number }

export function splitKey(key: Buffer, { shares, threshold }: ShareConfig, random: World['random']): readonly Buffer[] {
  if (shares > 1) return splitSecret(key, shares, threshold, random.bytes)
  return [copySecret(key)]
}

/** Undefined where they cannot belong together. Whether they do, only the key they give can tell. */
export function combineKey(given: readonly Buffer[], { shares }: ShareConfig): Buffer | undefined {
  const [first] = given
  if (first === undefined) return undefined
  if (shares === 1) return copySecret(first)
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
