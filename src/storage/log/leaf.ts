// The leaf of a stored entry: a keyed fingerprint from which the replication tree is built, and by which two clusters
// find out that an entry differs without showing it. Class and scope are in it, so that moving an entry changes it.
//
//   leaf  first 16 bytes of HMAC-SHA-256(leaf key, element)
//   element  class u8 | mount length u16 | mount | key length u16 | key | SHA-256(stored bytes) 32
import type { KeyObject } from 'node:crypto'
import { hmacSha256, sha256 } from '../../crypto/primitives/digest.ts'
import type { StorageClass } from '../contract.ts'

export const LEAF_BYTES = 16
/** Of what is not there, and of entries whose class is `ignored`: they are in no tree. */
export const NO_LEAF: Buffer = Buffer.alloc(0)

/** Stored numbers of the classes: in leaves, in log records and in the data table. */
export const CLASS_NUMBERS: Readonly<Record<StorageClass, number>> = { replicated: 1, local: 2, ignored: 3 }

export function classOfNumber(number: number): StorageClass | undefined {
  if (number === CLASS_NUMBERS.replicated) return 'replicated'
  if (number === CLASS_NUMBERS.local) return 'local'
  return number === CLASS_NUMBERS.ignored ? 'ignored' : undefined
}

/** The namespace of the scope is the key's first segment. */
export function leafOf(
  leafKey: KeyObject,
  storageClass: StorageClass,
  mount: string,
  key: string,
  value: Buffer,
): Buffer {
  const mountBytes = Buffer.byteLength(mount)
  const keyBytes = Buffer.byteLength(key)
  const head = Buffer.alloc(5 + mountBytes + keyBytes)
  head.writeUInt8(CLASS_NUMBERS[storageClass], 0)
  head.writeUInt16BE(mountBytes, 1)
  head.write(mount, 3)
  head.writeUInt16BE(keyBytes, 3 + mountBytes)
  head.write(key, 5 + mountBytes)
  return hmacSha256(leafKey, head, sha256(value)).subarray(0, LEAF_BYTES)
}
