// The leaf of a stored entry: a keyed digest from which the tree is built. By their leaves two clusters learn that an
// entry differs without showing it. Class, mount and key are in it, so an entry that is moved has another leaf. The key
// keeps a writer to the disk from choosing entries whose leaves cancel out (docs/decisions/0015-log-and-tree.md).
//
//   leaf  first 16 bytes of HMAC-SHA-256(leaf key, element)
//   element  class u8 | mount length u16 | mount | key length u16 | key | SHA-256(stored bytes) 32
import type { KeyObject } from 'node:crypto'
import { hmacSha256, sha256 } from '../../crypto/primitives/digest.ts'
import type { StorageClass } from '../contract.ts'

/** HMAC-SHA-256 cut to 128 bits. */
export const LEAF_BYTES = 16
/** Stands for a missing entry, and for one of class `ignored`: neither is in a tree. */
export const NO_LEAF: Buffer = Buffer.alloc(0)

/** Stored numbers of the classes: in leaves, log records, snapshots and the data table. They never change. */
export const CLASS_NUMBERS: Readonly<Record<StorageClass, number>> = { replicated: 1, local: 2, ignored: 3 }

/** The class with this stored number; undefined if there is none. */
export function classOfNumber(number: number): StorageClass | undefined {
  if (number === CLASS_NUMBERS.replicated) return 'replicated'
  if (number === CLASS_NUMBERS.local) return 'local'
  return number === CLASS_NUMBERS.ignored ? 'ignored' : undefined
}

/** The leaf of an entry. `mount` is its scope's; the namespace is in the key. `value` is what is stored, ciphertext. */
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
