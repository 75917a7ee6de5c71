// Which key versions have their messages counted, and by what they are known.

import type { KeyType } from '../../../crypto/key-types/key-type.ts'
import { sha256 } from '../../../crypto/primitives/digest.ts'
import type { VersionSecrets } from '../ring/key-ring.ts'
import { MANAGED_AES_GCM } from '../ring/managed-type.ts'

/** 96 bits: chance could repeat a nonce within what a key may live to seal. With 192 bits it cannot. */
const COUNTED_NONCE_BYTES = 12

export function isCounted(type: KeyType): boolean {
  return type === MANAGED_AES_GCM || type.cipher?.nonceBytes === COUNTED_NONCE_BYTES
}

const IDENTITY_BYTES = 12

/**
 * Follows from the secret that each version has of its own and takes with it into backups, and not from the key, of
 * which it would confirm a guess: it is the name of what is counted (budget-ledger.ts).
 */
export function identityOf({ hmac }: VersionSecrets): string {
  return sha256(hmac.reveal()).subarray(0, IDENTITY_BYTES).toString('base64url')
}
