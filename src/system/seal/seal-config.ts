// How the server is unsealed, and who holds shares of what:
//
//   root/core/seal-config   JSON in clear: {"format":1,"type":"shamir","shares":n,"threshold":t}, or
//                           {"format":1,"type":"static","keyId":id,"shares":n,"threshold":t}
//
// With a seal that opens by itself the shares are those of the recovery key. In clear, so it is the one record that
// somebody without a key can change: nothing opens by it that would not open without it.

import { MAX_SHARES } from '../../crypto/primitives/shamir.ts'
import { integer, oneOf, optional, text } from '../../lib/member-kinds.ts'
import { StorageCorrupt } from '../../storage/contract.ts'
import { storedRecord } from '../../storage/stored-record.ts'
import type { ShareConfig } from './key-shares.ts'

export const SEAL_CONFIG = 'root/core/seal-config'

export type SealConfig = ShareConfig & {
  /** Which static key opens; undefined: the shares do. */
  readonly keyId?: string
}

export const SEAL_CONFIG_RECORD = storedRecord('The seal configuration at root/core/seal-config', {
  type: oneOf('shamir', 'static'),
  keyId: optional(text),
  shares: integer({ min: 1, max: MAX_SHARES }),
  threshold: integer({ min: 1, max: MAX_SHARES }),
})

export function encodeSealConfig({ shares, threshold, keyId }: SealConfig): Buffer {
  const type = keyId === undefined ? ({ type: 'shamir' } as const) : ({ type: 'static', keyId } as const)
  return SEAL_CONFIG_RECORD.encode({ ...type, shares, threshold })
}

/** @throws StorageCorrupt, for numbers too that no store was made with: its shares could never be given */
export function decodeSealConfig(bytes: Buffer): SealConfig {
  const { type, keyId, shares, threshold } = SEAL_CONFIG_RECORD.decode(bytes)
  if (threshold > shares)
    throw new StorageCorrupt(`The seal configuration at ${SEAL_CONFIG} has a "threshold" above its "shares"`)
  if ((type === 'static') !== (keyId !== undefined))
    throw new StorageCorrupt(`The seal configuration at ${SEAL_CONFIG} has a "keyId" that does not go with its "type"`)
  return keyId === undefined ? { shares, threshold } : { shares, threshold, keyId }
}
