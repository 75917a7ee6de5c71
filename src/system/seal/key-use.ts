// The stored count of encryptions under the active data key (threats P-11). It is an upper bound, also after a crash:
// the number is stored before the server counts up to it. A restored snapshot does not bring the count along, because
// the key may have been used since, here or elsewhere. The key then gets a successor (keyring-rotation.ts).
//
// All clusters of a set seal with one data key, and the key may encrypt 2^32 times in all of them together. So the
// cluster that added the term also notes what it granted to others (key-ledger.ts). Nothing is granted as yet.
//
// A key can come back: a cluster that follows another primary after a failover takes over its keyring, and may have
// used its active key before. So the count of each key is kept, and a key goes on from it. Keys are told apart by a
// mark and not by the number of the term alone: two clusters can have one number for two keys.
//
//   root/core/key-use   inside a record sealed by the root key:
//   format 2 | term u32 | key 16 | encryptions u64 | grants u16 | grants × grant | others u32 | others × other
//   grant    = length u8 | id of the cluster | granted u64
//   other    = key 16 | encryptions u64
//   key      = the first 16 bytes of HMAC-SHA-256 under the data key of "keywright key use"
//   format 1 | encryptions u64      of the first releases: the active term, nothing granted, the others not known
import { hmacSha256 } from '../../crypto/primitives/digest.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import type { DataKey, Keyring } from '../../storage/keyring.ts'
import { MAX_ENCRYPTIONS } from '../../storage/keyring-limits.ts'

/** Where the bounds on encryptions are stored, sealed by the root key. */
export const KEY_USE = 'root/core/key-use'

/** How much of one data key is used, or granted to be used. */
export type DataKeyUse = {
  readonly term: number
  /** Upper bound of what this cluster encrypted under the term. */
  readonly encryptions: number
  /** By the id of another cluster: what it may encrypt under the term, in all. */
  readonly grants: ReadonlyMap<string, number>
}

/** The use of the active data key, and what this cluster encrypted under others. */
export type KeyUses = DataKeyUse & {
  /** The mark of the active data key. */
  readonly mark: string
  /**
   * By the marks of other keys: upper bounds of what this cluster encrypted. A key that is not among them was never
   * used here. None is ever dropped: a key may leave the keyring and come back.
   */
  readonly others: ReadonlyMap<string, number>
}

/** Longest id of a cluster in bytes. */
export const MAX_CLUSTER_ID_BYTES = 255
const FORMAT = 2
const MARK_BYTES = 16
const ENCRYPTIONS_AT = 5 + MARK_BYTES
const HEADER_BYTES = ENCRYPTIONS_AT + 10
const OTHER_BYTES = MARK_BYTES + 8
const MARK_LABEL = Buffer.from('keywright key use')
const OLD_FORMAT = 1
const OLD_BYTES = 9

/** Tells a data key from any other, and reveals nothing of it. */
function markOf({ key }: DataKey): string {
  return hmacSha256(key, MARK_LABEL).toString('hex', 0, MARK_BYTES)
}

function activeMark({ activeTerm, terms }: Keyring): string {
  const active = terms.get(activeTerm)
  if (active === undefined) throw new StorageCorrupt('The keyring lacks its active term')
  return markOf(active)
}

/** The uses of a keyring whose active key has encrypted so often, and no other key of it here. */
export function firstUses(keyring: Keyring, encryptions: number): KeyUses {
  const mark = activeMark(keyring)
  return { term: keyring.activeTerm, mark, encryptions, grants: new Map(), others: new Map() }
}

/** What is known of a keyring from `known`, by marks: each other key of it counts as used up. */
function usesOf(keyring: Keyring, known: ReadonlyMap<string, number>): KeyUses {
  const keys = [...keyring.terms.values(), ...[...(keyring.former?.values() ?? [])].flat()]
  const counts = new Map(keys.map((key) => [markOf(key), MAX_ENCRYPTIONS]))
  for (const [mark, encryptions] of known) counts.set(mark, encryptions)
  return { ...firstUses(keyring, counts.get(activeMark(keyring)) ?? MAX_ENCRYPTIONS), others: counts }
}

/** All counts by marks; `own` is a bound of what this cluster encrypted under the active key. */
function countsOf({ mark, others }: KeyUses, own: number): ReadonlyMap<string, number> {
  return new Map([...others, [mark, Math.min(own, MAX_ENCRYPTIONS)]])
}

/**
 * The uses when the active key of `next` takes the place of the present one, of which `own` is a bound. A key that
 * comes back goes on from its count; `more` was sealed under it already.
 */
export function usesUnder(uses: KeyUses, own: number, next: Keyring, more = 0): KeyUses {
  const counts = countsOf(uses, own)
  return { ...firstUses(next, (counts.get(activeMark(next)) ?? 0) + more), others: counts }
}

/** The stored uses if they are of the keyring's active key; else others, where a key without a count is used up. */
export function usesFrom(stored: KeyUses | undefined, keyring: Keyring): KeyUses {
  if (stored === undefined) return usesOf(keyring, new Map())
  return stored.mark === activeMark(keyring) ? stored : usesOf(keyring, countsOf(stored, stored.encryptions))
}

/** Returns the plaintext of the record, to be sealed by the root key: an attacker who could lower it would gain. */
export function encodeKeyUse({ term, mark, encryptions, grants, others }: KeyUses): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt8(FORMAT, 0)
  header.writeUInt32BE(term, 1)
  header.write(mark, 5, 'hex')
  header.writeBigUInt64BE(BigInt(encryptions), ENCRYPTIONS_AT)
  header.writeUInt16BE(grants.size, ENCRYPTIONS_AT + 8)
  const rows = [...grants].map(([id, granted]) => {
    const name = Buffer.from(id)
    return Buffer.concat([Buffer.of(name.length), name, uint64(granted)])
  })
  const kept = [...others].filter(([other]) => other !== mark)
  const count = Buffer.alloc(4)
  count.writeUInt32BE(kept.length)
  const counts = kept.map(([other, used]) => Buffer.concat([Buffer.from(other, 'hex'), uint64(used)]))
  return Buffer.concat([header, ...rows, count, ...counts])
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

/** Reads what `encodeKeyUse` wrote; a count of format 1 is of the active key of `keyring`. @throws StorageCorrupt */
export function decodeKeyUse(bytes: Buffer, keyring: Keyring): KeyUses {
  if (bytes.length === OLD_BYTES && bytes[0] === OLD_FORMAT) {
    return usesOf(keyring, new Map([[activeMark(keyring), Number(bytes.readBigUInt64BE(1))]]))
  }
  if (bytes.length < HEADER_BYTES || bytes[0] !== FORMAT) throw damaged()
  const grants = new Map<string, number>()
  let at = HEADER_BYTES
  for (let row = 0; row < bytes.readUInt16BE(ENCRYPTIONS_AT + 8); row++) {
    const end = at + 1 + (bytes[at] ?? 0) + 8
    if (end > bytes.length) throw damaged()
    grants.set(bytes.toString('utf8', at + 1, end - 8), Number(bytes.readBigUInt64BE(end - 8)))
    at = end
  }
  const others = readOthers(bytes.subarray(at))
  const mark = bytes.toString('hex', 5, ENCRYPTIONS_AT)
  const encryptions = Number(bytes.readBigUInt64BE(ENCRYPTIONS_AT))
  return { term: bytes.readUInt32BE(1), mark, encryptions, grants, others }
}

function readOthers(bytes: Buffer): Map<string, number> {
  if (bytes.length < 4 || bytes.length !== 4 + bytes.readUInt32BE(0) * OTHER_BYTES) throw damaged()
  const others = new Map<string, number>()
  for (let at = 4; at < bytes.length; at += OTHER_BYTES) {
    others.set(bytes.toString('hex', at, at + MARK_BYTES), Number(bytes.readBigUInt64BE(at + MARK_BYTES)))
  }
  return others
}

const damaged = (): StorageCorrupt => new StorageCorrupt('The use of the data key has no format')
