// New shares must open what their key seals, before anybody is given them (threats S-04): each is part of a trial.
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import type { Random } from '../../lib/world.ts'
import { openRecord, sealRecord } from '../../storage/barrier.ts'
import { combineKey, type ShareConfig } from './key-shares.ts'

const SAMPLE_BYTES = 32
const NONCE_BYTES = 12
/** Stored nowhere. */
const PATH = 'trial'

export type NewShares = { readonly shares: readonly Buffer[]; readonly config: ShareConfig; readonly key: Buffer }

/** @throws Error where they would not do: a fault of this program, which the caller of an endpoint cannot mend */
export function requireGoodShares({ shares, config, key }: NewShares, random: Random): void {
  const sample = random.bytes(SAMPLE_BYTES)
  const record = sealRecord(importSecret(key), 0, PATH, random.bytes(NONCE_BYTES), sample)
  const { threshold } = config
  for (let from = 0; from < shares.length; from += threshold) {
    const start = Math.min(from, shares.length - threshold)
    const combined = combineKey(shares.slice(start, start + threshold), config)
    if (combined === undefined) throw new Error('The new shares do not belong together')
    const opened = openRecord(importSecret(combined), 0, PATH, record)
    combined.fill(0)
    if (!constantTimeEqual(opened, sample)) throw new Error('The new shares do not open what they should')
  }
}
