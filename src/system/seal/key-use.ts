// The stored count of encryptions under the active data key (threats P-11). It is an upper bound, also after a crash:
// the number is stored before the server counts up to it. A restored snapshot does not bring the count along, because
// the key may have been used since, here or elsewhere. The key then gets a successor (keyring-rotation.ts).
//
//   root/core/key-use   inside a record sealed by the root key:  format 1 | encryptions u64
import { StorageCorrupt } from '../../storage/contract.ts'

/** Where the bound on encryptions is stored, sealed by the root key. */
export const KEY_USE = 'root/core/key-use'
const FORMAT = 1
const BYTES = 9

/** Returns the plaintext of the record, to be sealed by the root key: an attacker who could lower it would gain. */
export function encodeKeyUse(encryptions: number): Buffer {
  const bytes = Buffer.alloc(BYTES)
  bytes.writeUInt8(FORMAT, 0)
  bytes.writeBigUInt64BE(BigInt(encryptions), 1)
  return bytes
}

/** Reads what `encodeKeyUse` wrote. @throws StorageCorrupt */
export function decodeKeyUse(bytes: Buffer): number {
  if (bytes.length !== BYTES || bytes[0] !== FORMAT) throw new StorageCorrupt('The use of the data key has no format')
  return Number(bytes.readBigUInt64BE(1))
}
