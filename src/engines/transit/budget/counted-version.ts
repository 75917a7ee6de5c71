// By what a key version is known whose messages are counted.

import { sha256 } from '../../../crypto/primitives/digest.ts'
import type { Secret } from '../../../crypto/primitives/secret.ts'

const IDENTITY_BYTES = 12

/**
 * Follows from the secret that each version has of its own and takes with it into backups, and not from the key, of
 * which it would confirm a guess: it is the name of what is counted (message-count-store.ts).
 */
export function identityOf({ hmac }: { readonly hmac: Secret }): string {
  return sha256(hmac.reveal()).subarray(0, IDENTITY_BYTES).toString('base64url')
}
