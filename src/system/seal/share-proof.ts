// What tells right shares from wrong ones. Of its own recovery key a cluster keeps the key itself. Of the unseal key of
// another cluster it knows only what that one stores: the root key, sealed by it.
//
//   encoded   the key, 32 bytes, or
//             format u8 = 2 | the record at root/core/root-key of the cluster whose shares they are
import type { KeyObject } from 'node:crypto'
import { AuthenticationFailed } from '../../crypto/primitives/aead.ts'
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { Secret } from '../../crypto/primitives/secret.ts'
import { secretBytes } from '../../crypto/primitives/secret-bytes.ts'
import { exportSecret, importSecret } from '../../crypto/primitives/secret-key.ts'
import type { Random } from '../../lib/world.ts'
import { requireForm } from '../../storage/barrier.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import { SHARED_KEY_BYTES } from './key-shares.ts'
import { openRootKey, ROOT_KEY, sealedRecord } from './seal-records.ts'

/** The key that the shares give, or the root key sealed by it. */
export type ShareProof =
  | { readonly kind: 'key'; readonly key: Secret }
  | { readonly kind: 'root key'; readonly record: Buffer }

/** First byte of the encoded form, where it is not the key itself: that has no byte before it. */
const RECORD_FORMAT = 2
const ROOT_KEY_BYTES = 32

/** True for bytes that `decodeProof` reads: a newer program may have other forms. */
export const isKnownProof = (bytes: Buffer): boolean => bytes.length === SHARED_KEY_BYTES || bytes[0] === RECORD_FORMAT

/** The encoded form; the caller wipes it. */
export function encodeProof(proof: ShareProof): Buffer {
  const bytes = proof.kind === 'key' ? proof.key.reveal() : proof.record
  const head = proof.kind === 'key' ? 0 : 1
  const encoded = secretBytes(head + bytes.length)
  if (head === 1) encoded.writeUInt8(RECORD_FORMAT)
  bytes.copy(encoded, head)
  return encoded
}

/** Reads the encoded form, which the caller wipes. @throws StorageCorrupt */
export function decodeProof(bytes: Buffer): ShareProof {
  if (bytes.length === SHARED_KEY_BYTES) return { kind: 'key', key: new Secret(bytes) }
  if (bytes[0] !== RECORD_FORMAT) throw new StorageCorrupt('What the shares must give has an unknown format')
  const record = Buffer.from(bytes.subarray(1))
  requireForm(ROOT_KEY, record, { isBehindBarrier: false, leastBytes: ROOT_KEY_BYTES })
  return { kind: 'root key', record }
}

/** Whether the shares gave the right key. */
export function proves(proof: ShareProof, given: Buffer): boolean {
  if (proof.kind === 'key') return constantTimeEqual(proof.key.reveal(), given)
  try {
    openRootKey(importSecret(given), proof.record)
    return true
  } catch (cause) {
    if (cause instanceof AuthenticationFailed) return false
    throw cause
  }
}

/** The root key as shares open it: its record, sealed by the key that they give. */
export function openedByShares(proof: ShareProof, rootKey: KeyObject, random: Random): Buffer {
  if (proof.kind === 'root key') return proof.record
  const bytes = exportSecret(rootKey)
  try {
    return sealedRecord(random, ROOT_KEY, importSecret(proof.key.reveal()), bytes)
  } finally {
    bytes.fill(0)
  }
}

/** Overwrites what is secret of it. */
export function wipeProof(proof: ShareProof): void {
  if (proof.kind === 'key') proof.key.wipe()
}
