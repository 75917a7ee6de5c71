// The identity of a key version whose messages are counted.
import { sha256 } from '../../../crypto/primitives/digest.ts'
import type { Secret } from '../../../crypto/primitives/secret.ts'

/** 96 bits: two of a million versions have the same one with a chance below 2^-56. */
const IDENTITY_BYTES = 12

/**
 * Returns the name under which the messages of a version are counted (message-count-store.ts). It follows from the HMAC
 * secret, which each version has of its own and keeps in backups. It does not follow from the key: names in storage are
 * in clear, and this one would confirm a guess of the key.
 */
export function identityOf({ hmac }: { readonly hmac: Secret }): string {
  return sha256(hmac.reveal()).subarray(0, IDENTITY_BYTES).toString('base64url')
}
