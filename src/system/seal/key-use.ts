// The stored count of encryptions under the active data key (threats P-11). It is an upper bound, also after a crash:
// the number is stored before the server counts up to it. A restored snapshot does not bring the count along, because
// the key may have been used since, here or elsewhere. The key then gets a successor (keyring-rotation.ts).
//
// All clusters of a set seal with one data key, and the key may encrypt 2^32 times in all of them together. So the
// cluster that added the term also notes what it granted to others (key-ledger.ts).
//
//   root/core/key-use   inside a record sealed by the root key:
//   format 2 | term u32 | encryptions u64 | grants u16 | grants × ( length u8 | id of the cluster | granted u64 )
//   format 1 | encryptions u64      of the first releases: the active term, and nothing granted
import { StorageCorrupt } from '../../storage/contract.ts'

/** Where the bound on encryptions is stored, sealed by the root key. */
export const KEY_USE = 'root/core/key-use'

/** How much of one data key is used, or granted to be used. */
export type DataKeyUse = {
  readonly term: number
  /** Upper bound of what this cluster encrypted under the term. */
  readonly encryptions: number
  /** By the id of another cluster: what it may encrypt under the term, in all. */
  readonly grants: ReadonlyMap<string, number>
}

/** Longest id of a cluster in bytes. */
export const MAX_CLUSTER_ID_BYTES = 255
const FORMAT = 2
const HEADER_BYTES = 15
const OLD_FORMAT = 1
const OLD_BYTES = 9

/** Returns the plaintext of the record, to be sealed by the root key: an attacker who could lower it would gain. */
export function encodeKeyUse({ term, encryptions, grants }: DataKeyUse): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt8(FORMAT, 0)
  header.writeUInt32BE(term, 1)
  header.writeBigUInt64BE(BigInt(encryptions), 5)
  header.writeUInt16BE(grants.size, 13)
  const rows = [...grants].map(([id, granted]) => {
    const name = Buffer.from(id)
    const row = Buffer.alloc(1 + name.length + 8)
    row.writeUInt8(name.length, 0)
    name.copy(row, 1)
    row.writeBigUInt64BE(BigInt(granted), 1 + name.length)
    return row
  })
  return Buffer.concat([header, ...rows])
}

/** Reads what `encodeKeyUse` wrote; a count of format 1 is of `activeTerm`. @throws StorageCorrupt */
export function decodeKeyUse(bytes: Buffer, activeTerm: number): DataKeyUse {
  if (bytes.length === OLD_BYTES && bytes[0] === OLD_FORMAT) {
    return { term: activeTerm, encryptions: Number(bytes.readBigUInt64BE(1)), grants: new Map() }
  }
  if (bytes.length < HEADER_BYTES || bytes[0] !== FORMAT) throw damaged()
  const grants = new Map<string, number>()
  let at = HEADER_BYTES
  for (let row = 0; row < bytes.readUInt16BE(13); row++) {
    const end = at + 1 + (bytes[at] ?? 0) + 8
    if (end > bytes.length) throw damaged()
    grants.set(bytes.toString('utf8', at + 1, end - 8), Number(bytes.readBigUInt64BE(end - 8)))
    at = end
  }
  if (at !== bytes.length) throw damaged()
  return { term: bytes.readUInt32BE(1), encryptions: Number(bytes.readBigUInt64BE(5)), grants }
}

const damaged = (): StorageCorrupt => new StorageCorrupt('The use of the data key has no format')
