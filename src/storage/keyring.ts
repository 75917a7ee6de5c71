// The barrier's data keys, each with the number of its term. The active term encrypts, all of them open, and rotation
// adds one. None is ever removed: records of older terms stay as they are.
//
//   stored (inside an envelope sealed by the root key, barrier.ts):
//   format 1 | active term u32 | count u32 | count × ( term u32 | installed at, ms u64 | key 32 )
import type { KeyObject } from 'node:crypto'
import { exportSecret, importSecret } from '../crypto/primitives/secret-key.ts'
import { StorageCorrupt } from './contract.ts'

/** An AES-256 key, and when rotation added it. */
export type DataKey = { readonly key: KeyObject; readonly installedAtMs: number }
/** All data keys by their terms; `activeTerm` is one of them. Threads share the key objects without a copy. */
export type Keyring = { readonly activeTerm: number; readonly terms: ReadonlyMap<number, DataKey> }

const FORMAT = 1
const HEADER_BYTES = 9
/** AES-256. */
export const DATA_KEY_BYTES = 32
const TERM_BYTES = 4 + 8 + DATA_KEY_BYTES
/** The shortest encoded keyring: it has one term. */
export const LEAST_KEYRING_BYTES = HEADER_BYTES + TERM_BYTES

/** Encodes the keyring as drawn above. The caller wipes the result: it holds every data key. */
export function encodeKeyring(keyring: Keyring): Buffer {
  const out = Buffer.alloc(HEADER_BYTES + keyring.terms.size * TERM_BYTES)
  out.writeUInt8(FORMAT, 0)
  out.writeUInt32BE(keyring.activeTerm, 1)
  out.writeUInt32BE(keyring.terms.size, 5)
  let at = HEADER_BYTES
  for (const [term, { key, installedAtMs }] of keyring.terms) {
    const material = exportSecret(key)
    out.writeUInt32BE(term, at)
    out.writeBigUInt64BE(BigInt(installedAtMs), at + 4)
    material.copy(out, at + 12)
    material.fill(0)
    at += TERM_BYTES
  }
  return out
}

/** Reads an encoded keyring; the caller wipes `bytes`. @throws StorageCorrupt if they are no keyring */
export function decodeKeyring(bytes: Buffer): Keyring {
  if (bytes.length < HEADER_BYTES || bytes[0] !== FORMAT) throw new StorageCorrupt('The keyring has an unknown format')
  const activeTerm = bytes.readUInt32BE(1)
  const count = bytes.readUInt32BE(5)
  if (bytes.length !== HEADER_BYTES + count * TERM_BYTES) throw new StorageCorrupt('The keyring has a wrong length')
  const terms = new Map<number, DataKey>()
  for (let at = HEADER_BYTES; at < bytes.length; at += TERM_BYTES) {
    terms.set(bytes.readUInt32BE(at), {
      key: importSecret(bytes.subarray(at + 12, at + TERM_BYTES)),
      installedAtMs: Number(bytes.readBigUInt64BE(at + 4)),
    })
  }
  if (!terms.has(activeTerm)) throw new StorageCorrupt('The keyring lacks its active term')
  return { activeTerm, terms }
}
