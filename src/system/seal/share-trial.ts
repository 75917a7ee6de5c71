// The trial of new shares before they are handed out: they must open what their key seals (threats S-04). Every share
// takes part in one combination at least. Differs: docs/differences.md#storage-and-seal.
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import type { Random } from '../../lib/world.ts'
import { openRecord, sealRecord } from '../../storage/barrier.ts'
import { combineKey, type ShareConfig } from './key-shares.ts'

const SAMPLE_BYTES = 32
/** NIST SP 800-38D: the nonce of AES-GCM. */
const NONCE_BYTES = 12
/** The path that the sample is bound to; it is stored nowhere. */
const PATH = 'trial'

/** Shares, and the key that they were split from. */
export type NewShares = { readonly shares: readonly Buffer[]; readonly config: ShareConfig; readonly key: Buffer }

/** Throws an Error, not a Refusal, if the shares would not do: that is a fault of this program, not of the caller. */
export function requireGoodShares({ shares, config, key }: NewShares, random: Random): void {
  const sample = random.bytes(SAMPLE_BYTES)
  const record = sealRecord(importSecret(key), 0, PATH, random.bytes(NONCE_BYTES), sample)
  const { threshold } = config
  for (let from = 0; from < shares.length; from += threshold) {
    // The last group overlaps the one before it: each has exactly `threshold` shares.
    const start = Math.min(from, shares.length - threshold)
    const combined = combineKey(shares.slice(start, start + threshold), config)
    if (combined === undefined) throw new Error('The new shares do not belong together')
    const opened = openRecord(importSecret(combined), 0, PATH, record)
    combined.fill(0)
    if (!constantTimeEqual(opened, sample)) throw new Error('The new shares do not open what they should')
  }
}
