// Records of this cluster's log that its new primary does not have: they are undone when it follows that one, and kept
// aside before. Each set of them is a folder, whose name follows from where both clusters parted:
//
//   root/core/undone/ID/head         what the set is, JSON (UNDONE_HEAD)
//   root/core/undone/ID/page/INDEX   records, one behind the other (log/change-record.ts), without operations of class
//                                    ignored; INDEX is that of the first in this cluster's log, with 16 digits
//
// All of it is sealed by the root key, which all clusters of a set have, and which no keyring that comes from a primary
// replaces. The values inside are sealed by data keys, as they were in the log. The keyring of that day is in the head:
// the new primary may never have had its last term.
import { strict as assert } from 'node:assert'
import { sha256 } from '../../crypto/primitives/digest.ts'
import { base64, count, flag, group, oneOf, text } from '../../lib/member-kinds.ts'
import { type Change, type Reader, ROOT_NAMESPACE } from '../../storage/contract.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import { decodeChange } from '../../storage/log/change-record.ts'
import type { History, Position, ReplicationFamily } from '../../storage/peer-log.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import type { Place } from '../protocol/messages.ts'

/** Folder of all sets. */
export const UNDONE_FOLDER = `${ROOT_NAMESPACE}/core/undone/`

/** What is told of a set of undone records, and what opens them. */
export const UNDONE_HEAD = storedRecord('The head of undone records', {
  family: oneOf('dr', 'performance'),
  setId: text,
  /** When they began to be kept. */
  atMs: count,
  /** The last place that both clusters have. */
  fork: group({ historyId: base64, index: count, chain: base64 }),
  /** This cluster wrote them as a primary. Else it applied them, and its former primary wrote them. */
  isOwnLog: flag,
  /** The log was looked through to its end. */
  isWhole: flag,
  /** Up to here, in the log of this cluster. */
  lookedUpTo: count,
  /** All that were found: those that are kept, and `leftOut`. */
  records: count,
  /** Those for which there was no room. */
  leftOut: count,
  operations: count,
  /** Indexes in the log of this cluster. */
  firstIndex: count,
  lastIndex: count,
  /** Of the records that are kept. */
  bytes: count,
  /** The log did not reach back to the fork: records up to here may be missing. 0: it did. */
  missingUpTo: count,
  /** `core/keyring` as it was stored. */
  keyring: base64,
})
/** A set of undone records. */
export type UndoneHead = RecordOf<typeof UNDONE_HEAD>

/** Seals what is kept, and opens it. */
export type Vault = {
  readonly seal: (key: string, plaintext: Buffer) => Buffer
  readonly open: (key: string, record: Buffer) => Buffer
}

const DOMAIN = Buffer.from('keywright undone records')
const ID_BYTES = 16
const DIGITS = 16
/** Length and form of a name, so that no other text becomes part of a key. */
const ID = /^[0-9a-f]{32}$/
/** Length and checksum come before what the length counts. */
const LENGTH_BYTES = 8

/** Key of the head of a set. */
export const headKey = (id: string): string => `${UNDONE_FOLDER}${id}/head`
/** Folder of its pages. */
export const pageFolder = (id: string): string => `${UNDONE_FOLDER}${id}/page/`
/** Key of the page that begins with the record of this index. */
export const pageKey = (id: string, firstIndex: number): string =>
  pageFolder(id) + String(firstIndex).padStart(DIGITS, '0')

/** The records behind a fork that a cluster has, and the name of their set. */
export type Undone = {
  readonly id: string
  readonly isOwnLog: boolean
  /** Where this cluster's log may end to be looked through. */
  readonly endIndex: number
}

/**
 * Where a cluster and its new primary parted: the fork of its own log, and the last place that the primary has in each
 * other log that it comes from. The cluster may have followed one of these further before.
 */
export function partedAt(
  fork: Place | undefined,
  followed: readonly Place[],
  own: readonly Pick<History, 'id'>[],
): readonly Place[] {
  const isTold = ({ historyId }: Place): boolean =>
    fork?.historyId.equals(historyId) === true || own.some(({ id }) => id.equals(historyId))
  const others = followed.filter(
    (place, at) => !isTold(place) && !followed.slice(at + 1).some((later) => later.historyId.equals(place.historyId)),
  )
  return fork === undefined ? others : [fork, ...others]
}

/**
 * What a cluster at this position has behind a fork; undefined: nothing. Asked again without another change of what is
 * sent it gives the same name. `historyIds`: all histories of its own.
 */
export function undoneBehind(
  fork: Place,
  family: ReplicationFamily,
  position: Position,
  historyIds: readonly Buffer[],
): Undone | undefined {
  const isOwnLog = historyIds.some((id) => id.equals(fork.historyId))
  const followed = position.origins.find(
    (origin) => origin.family === family && origin.historyId.equals(fork.historyId),
  )
  const lastIndex = isOwnLog ? Math.max(position.lastReplicatedIndex, position.lastLocalIndex) : (followed?.index ?? 0)
  if (lastIndex <= fork.index) return undefined
  return { id: idOf(fork, lastIndex), isOwnLog, endIndex: isOwnLog ? lastIndex : position.index }
}

/** The last index is in it: a cluster may come back to the same fork with more. */
function idOf({ historyId, index }: Place, lastIndex: number): string {
  const numbers = Buffer.alloc(16)
  numbers.writeBigUInt64BE(BigInt(index))
  numbers.writeBigUInt64BE(BigInt(lastIndex), 8)
  return sha256(Buffer.concat([DOMAIN, historyId, numbers])).toString('hex', 0, ID_BYTES)
}

/** The head of a set; undefined if there is none of this name. */
export async function readHead(reader: Pick<Reader, 'get'>, vault: Vault, id: string): Promise<UndoneHead | undefined> {
  if (!ID.test(id)) return undefined
  const key = headKey(id)
  const stored = await reader.get(key)
  return stored === undefined ? undefined : UNDONE_HEAD.decode(vault.open(key, stored))
}

/** All sets, oldest first. */
export async function readHeads(reader: Pick<Reader, 'get' | 'list'>, vault: Vault) {
  const heads: { readonly id: string; readonly head: UndoneHead }[] = []
  for (const name of await reader.list(UNDONE_FOLDER)) {
    const id = name.slice(0, -1)
    const head = await readHead(reader, vault, id)
    if (head !== undefined) heads.push({ id, head })
  }
  return heads.sort((one, other) => one.head.atMs - other.head.atMs)
}

/** The part of the records that is asked for: it ends with the record that brings it to so many bytes. */
export type UndonePage = { readonly after: number; readonly limit: number; readonly bytes: number }

/** Records behind the index `after`, in order. `isEnd`: there are no more. */
export async function readRecords(
  reader: Pick<Reader, 'get' | 'list'>,
  vault: Vault,
  id: string,
  { after, limit, bytes }: UndonePage,
): Promise<{ readonly changes: readonly Change[]; readonly isEnd: boolean }> {
  const changes: Change[] = []
  let taken = 0
  for (const key of await pagesBehind(reader, id, after)) {
    const stored = await reader.get(key)
    if (stored === undefined) continue
    for (const record of recordsIn(vault.open(key, stored), key)) {
      const change = decodeChange(record, 'undone record')
      if (change.index <= after) continue
      if (changes.length >= limit || taken >= bytes) return { changes, isEnd: false }
      taken += record.length
      changes.push(change)
    }
  }
  return { changes, isEnd: true }
}

/** Keys of the pages that can hold a record behind the index. */
async function pagesBehind(reader: Pick<Reader, 'list'>, id: string, after: number): Promise<string[]> {
  const names = await reader.list(pageFolder(id))
  const from = names.findLastIndex((name) => Number(name) <= after)
  return names.slice(Math.max(from, 0)).map((name) => pageFolder(id) + name)
}

function* recordsIn(page: Buffer, key: string): Generator<Buffer> {
  for (let at = 0; at < page.length; ) {
    if (page.length - at < LENGTH_BYTES) throw new StorageCorrupt(`The page ${key} is cut`)
    const end = at + LENGTH_BYTES + page.readUInt32BE(at)
    if (end > page.length) throw new StorageCorrupt(`The page ${key} is cut`)
    assert(end > at)
    yield page.subarray(at, end)
    at = end
  }
}
