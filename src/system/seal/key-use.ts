// How often the active data key has encrypted, as it is stored: never less than in truth, also after a crash, because
// what is stored is the number up to which may be counted until it is stored again. A snapshot that is restored does
// not bring it along: the key was used since, here or elsewhere, and so it gets a successor (keyring-rotation.ts).
//
//   root/core/key-use   inside a record sealed by the root key:  format 1 | encryptions u64
import { StorageCorrupt } from '../../storage/contract.ts'

export const KEY_USE = 'root/core/key-use'
const FORMAT = 1
const BYTES = 9

export function encodeKeyUse(encryptions: number): Buffer {
  const bytes = Buffer.alloc(BYTES)
  bytes.writeUInt8(FORMAT, 0)
  bytes.writeBigUInt64BE(BigInt(encryptions), 1)
  return bytes
}

/** @throws StorageCorrupt */
export function decodeKeyUse(bytes: Buffer): number {
  if (bytes.length !== BYTES || bytes[0] !== FORMAT) throw new StorageCorrupt('The use of the data key has no format')
  return Number(bytes.readBigUInt64BE(1))
}
