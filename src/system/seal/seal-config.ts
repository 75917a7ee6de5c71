// The seal's configuration: how the server is unsealed, and how many shares there are:
//
//   root/core/seal-config   JSON in clear: {"format":1,"type":"shamir","shares":n,"threshold":t}, or
//                           {"format":1,"type":"static","keyId":id,"shares":n,"threshold":t}
//
// With a static seal the shares are those of the recovery key. `id` names them, so that clusters of one set know
// whether they have the same; those of an initialisation have none. The record is in clear, because it is read while
// sealed. So an attacker with access to the store can change it without a key; it must never open anything by itself.

import { MAX_SHARES } from '../../crypto/primitives/shamir.ts'
import { checked, integer, oneOf, optional, text } from '../../lib/member-kinds.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import { storedRecord } from '../../storage/stored-record.ts'
import type { ShareConfig } from './key-shares.ts'

/** Where the configuration of the seal is stored, in clear. */
export const SEAL_CONFIG = 'root/core/seal-config'

/** Bytes of an id of shares. */
export const SEAL_ID_BYTES = 36

/** True for a UUID, which names shares. */
export const isSealId = (text: string): boolean => /^[0-9a-f-]{36}$/.test(text)

/** How the server is unsealed, and how its shares are split. */
export type SealConfig = ShareConfig & {
  /** Id of the static key that opens; undefined if shares do. */
  readonly keyId?: string
  /** Another one with each rekey: a UUID, or empty for those of the initialisation. */
  readonly id: string
}

/** The members of the record; `decodeSealConfig` checks what holds between them. */
export const SEAL_CONFIG_RECORD = storedRecord('The seal configuration at root/core/seal-config', {
  type: oneOf('shamir', 'static'),
  keyId: optional(text),
  shares: integer({ min: 1, max: MAX_SHARES }),
  threshold: integer({ min: 1, max: MAX_SHARES }),
  id: optional(checked(text, isSealId)),
})

/** Returns the stored form; the type follows from `keyId`. */
export function encodeSealConfig({ shares, threshold, keyId, id }: SealConfig): Buffer {
  const type = keyId === undefined ? ({ type: 'shamir' } as const) : ({ type: 'static', keyId } as const)
  return SEAL_CONFIG_RECORD.encode({ ...type, shares, threshold, ...(id === '' ? {} : { id }) })
}

/** Reads the stored form. @throws StorageCorrupt, also for numbers of shares that no store is ever made with */
export function decodeSealConfig(bytes: Buffer): SealConfig {
  const { type, keyId, shares, threshold, id = '' } = SEAL_CONFIG_RECORD.decode(bytes)
  if (threshold > shares)
    throw new StorageCorrupt(`The seal configuration at ${SEAL_CONFIG} has a "threshold" above its "shares"`)
  if ((type === 'static') !== (keyId !== undefined))
    throw new StorageCorrupt(`The seal configuration at ${SEAL_CONFIG} has a "keyId" that does not go with its "type"`)
  return { shares, threshold, id, ...(keyId === undefined ? {} : { keyId }) }
}
