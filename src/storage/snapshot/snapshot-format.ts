// A snapshot of the whole store as one file or stream. All numbers are big-endian.
//
//   file     magic "KWsnap\r\n" | format u8 = 2 | header length u32 | header, JSON | chunk ... | last chunk
//   header   as SnapshotHeader; format 1 lacked `histories`
//   chunk    kind u8 (1 entries, 2 last) | length u32 | content | hash 32
//   entries  ( class u8 | leaf length u8 | leaf | key length u16 | key | value length u32 | value ) ..., in key order
//   last     entries u64 | root of the replicated 32 | root of the local 32 | seal length u32 | seal
//
// The hash of a chunk is SHA-256(hash before ‖ kind ‖ length ‖ content). The hash before the first chunk is SHA-256 of
// all bytes up to it. So a chunk that was cut, changed, moved or repeated is found when it is read (threats P-10). The
// seal is a record of the barrier (barrier.ts) at SEAL_PATH over (hash before ‖ entries ‖ both roots): only the cluster
// can make it, and through the hashes it covers every byte before. The roots are over the scopes of the program that
// wrote them. Programs of before compare them, this one does not (staged-check.ts).
import { sha256 } from '../../crypto/primitives/digest.ts'
import {
  checked,
  count as countKind,
  group,
  integer,
  listOf,
  orUndefined,
  text,
  type ValueOf,
} from '../../lib/member-kinds.ts'
import type { StoredEntry } from '../contract.ts'
import { StorageCorrupt, StorageError } from '../errors.ts'
import { faultOfHistories, faultOfKnown, historyOfFormat1 } from '../log/histories.ts'
import { CLASS_NUMBERS, classOfNumber } from '../log/leaf.ts'
import { RecordReader } from '../log/record-reader.ts'
import type { History } from '../peer-log.ts'
import { decodeStored, encodeStored } from '../stored-record.ts'

/** The bytes are no snapshot, or not the one that was written. */
export class SnapshotDamaged extends StorageError {
  override name = 'SnapshotDamaged'
}

/** The format that is written. Format 1 is read too; any other is refused. */
export const SNAPSHOT_FORMAT = 2
/** The path that the barrier binds the seal to. No key of an entry reads like it. */
export const SEAL_PATH = 'keywright snapshot'
/** Ends in a line break, which a transfer as text would alter. */
const MAGIC = Buffer.from('KWsnap\r\n')
/** Magic, format and the length of the header. */
export const PREFIX_BYTES = MAGIC.length + 1 + 4
/** Kind and length. */
export const CHUNK_HEAD_BYTES = 1 + 4
/** SHA-256. */
export const HASH_BYTES = 32
/** A chunk ends with the entry that brings it to this. */
export const CHUNK_BYTES = 1024 * 1024
/** The header is read into memory before anything of it is checked. */
const MAX_HEADER_BYTES = 1024 * 1024
const ROOT_BYTES = 32
const ENTRIES = 1
const LAST = 2

const ID = checked(text, (id) => /^[0-9a-f]{32}$/i.test(id))
const HISTORY = group(
  {
    id: ID,
    epoch: countKind,
    start_index: integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    parent: orUndefined(group({ id: ID, index: countKind, chain: ID })),
    started_at_ms: countKind,
  },
  'dropped',
)
const HEADER = group(
  {
    cluster_id: text,
    index: countKind,
    epoch: countKind,
    chain: ID,
    history_id: ID,
    created_at_ms: countKind,
    entries: countKind,
    histories: orUndefined(listOf(HISTORY)),
  },
  'dropped',
)

/** Where the snapshot comes from. The seal covers it, but the seal is checked last: until then it is only a claim. */
export type SnapshotHeader = {
  readonly clusterId: string
  readonly index: number
  readonly epoch: number
  readonly chain: Buffer
  readonly historyId: Buffer
  /** Those of the store, oldest first. A snapshot of format 1 tells of the last one alone. */
  readonly histories: readonly History[]
  readonly createdAtMs: number
  readonly entries: number
}

/** The last chunk: number of entries, roots of the tree over them, and the seal over all of it. */
export type SnapshotEnd = {
  readonly entries: number
  readonly replicated: Buffer
  readonly local: Buffer
  readonly seal: Buffer
}

/** A decoded chunk. Buffers are views of what was read. */
export type Chunk =
  | { readonly kind: 'entries'; readonly entries: readonly StoredEntry[] }
  | { readonly kind: 'last'; readonly end: SnapshotEnd }

/** Everything before the first chunk. */
export function encodeSnapshotHeader(header: SnapshotHeader): Buffer {
  const json = encodeStored({
    cluster_id: header.clusterId,
    index: header.index,
    epoch: header.epoch,
    chain: header.chain.toString('hex'),
    history_id: header.historyId.toString('hex'),
    created_at_ms: header.createdAtMs,
    entries: header.entries,
    histories: header.histories.map(encodeHistory),
  })
  const rest = Buffer.alloc(5)
  rest.writeUInt8(SNAPSHOT_FORMAT, 0)
  rest.writeUInt32BE(json.length, 1)
  return Buffer.concat([MAGIC, rest, json])
}

/** Length of the header that follows the file's first PREFIX_BYTES. @throws SnapshotDamaged */
export function headerLength(prefix: Buffer): number {
  if (!prefix.subarray(0, MAGIC.length).equals(MAGIC)) throw new SnapshotDamaged('This is no snapshot of Keywright')
  const format = prefix.readUInt8(MAGIC.length)
  if (format < 1 || format > SNAPSHOT_FORMAT) {
    throw new SnapshotDamaged(
      `The snapshot has format ${format}, this version of Keywright reads 1 to ${SNAPSHOT_FORMAT}`,
    )
  }
  const length = prefix.readUInt32BE(MAGIC.length + 1)
  if (length > MAX_HEADER_BYTES) throw new SnapshotDamaged('The header of the snapshot is damaged')
  return length
}

/** Reads the JSON of the header. @throws SnapshotDamaged */
export function decodeHeader(json: Buffer): SnapshotHeader {
  try {
    const header = decodeStored('The header of the snapshot', HEADER, json)
    const { index, epoch } = header
    const fault = faultOfKnown({ index, epoch })
    if (fault !== undefined) throw new SnapshotDamaged(`The header of the snapshot is damaged: ${fault}`)
    const chain = Buffer.from(header.chain, 'hex')
    const historyId = Buffer.from(header.history_id, 'hex')
    return {
      clusterId: header.cluster_id,
      index,
      epoch,
      chain,
      historyId,
      histories: requireHistories(header.histories, { index, epoch, chain, historyId }),
      createdAtMs: header.created_at_ms,
      entries: header.entries,
    }
  } catch (cause) {
    throw cause instanceof StorageCorrupt
      ? new SnapshotDamaged('The header of the snapshot is damaged', { cause })
      : cause
  }
}

function encodeHistory({ id, epoch, startIndex, parent, startedAtMs }: History): ValueOf<typeof HISTORY> {
  return {
    id: id.toString('hex'),
    epoch,
    start_index: startIndex,
    parent: parent && { id: parent.id.toString('hex'), index: parent.index, chain: parent.chain.toString('hex') },
    started_at_ms: startedAtMs,
  }
}

/** The list of the header, which must end with its own history. @throws StorageCorrupt */
function requireHistories(
  list: readonly ValueOf<typeof HISTORY>[] | undefined,
  position: Pick<SnapshotHeader, 'index' | 'epoch' | 'chain' | 'historyId'>,
): readonly History[] {
  if (list === undefined) return [historyOfFormat1(position)]
  const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
  const histories = list.map(({ id, epoch, start_index: startIndex, parent, started_at_ms: startedAtMs }): History => {
    const from = parent && { id: bytes(parent.id), index: parent.index, chain: bytes(parent.chain) }
    return { id: bytes(id), epoch, startIndex, parent: from, startedAtMs }
  })
  const last = histories.at(-1)
  const fault = faultOfHistories(histories)
  if (fault !== undefined) throw new StorageCorrupt(`The list of histories ${fault}`)
  if (last === undefined || !last.id.equals(position.historyId) || last.epoch !== position.epoch) {
    throw new StorageCorrupt('The list of histories does not end with that of the snapshot')
  }
  if (last.startIndex > position.index + 1) throw new StorageCorrupt('The last history begins behind the snapshot')
  return histories
}

/** Content of a chunk of entries. */
export function encodeEntries(entries: readonly StoredEntry[]): Buffer {
  return Buffer.concat(
    entries.flatMap(({ class: storageClass, leaf, key, value }) => {
      const keyBytes = Buffer.from(key)
      const head = Buffer.alloc(2 + leaf.length + 2)
      head.writeUInt8(CLASS_NUMBERS[storageClass], 0)
      head.writeUInt8(leaf.length, 1)
      leaf.copy(head, 2)
      head.writeUInt16BE(keyBytes.length, 2 + leaf.length)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(value.length, 0)
      return [head, keyBytes, length, value]
    }),
  )
}

/** The bytes that the seal of the last chunk is made over. */
export function sealedEnd(hashBefore: Buffer, { entries, replicated, local }: Omit<SnapshotEnd, 'seal'>): Buffer {
  const count = Buffer.alloc(8)
  count.writeBigUInt64BE(BigInt(entries))
  return Buffer.concat([hashBefore, count, replicated, local])
}

/** Content of the last chunk. */
export function encodeEnd({ entries, replicated, local, seal }: SnapshotEnd): Buffer {
  const [count, length] = [Buffer.alloc(8), Buffer.alloc(4)]
  count.writeBigUInt64BE(BigInt(entries))
  length.writeUInt32BE(seal.length)
  return Buffer.concat([count, replicated, local, length, seal])
}

/** A whole chunk, and its hash for the next one. */
export type EncodedChunk = { readonly bytes: Buffer; readonly hash: Buffer }

/** Puts head and hash around the content of a chunk. */
export function encodeChunk(kind: Chunk['kind'], content: Buffer, hashBefore: Buffer): EncodedChunk {
  const head = Buffer.alloc(CHUNK_HEAD_BYTES)
  head.writeUInt8(kind === 'entries' ? ENTRIES : LAST, 0)
  head.writeUInt32BE(content.length, 1)
  const hash = sha256(hashBefore, head, content)
  return { bytes: Buffer.concat([head, content, hash]), hash }
}

/** Reads a chunk whose hash was checked. `name` stands for it in messages. @throws StorageCorrupt */
export function decodeChunk(head: Buffer, content: Buffer, name: string): Chunk {
  const reader = new RecordReader(content, name)
  const kind = head.readUInt8(0)
  if (kind === LAST) {
    const entries = reader.u64('count')
    const [replicated, local] = [reader.bytes(ROOT_BYTES, 'root'), reader.bytes(ROOT_BYTES, 'root')]
    const end = { entries, replicated, local, seal: reader.bytes(reader.u32('length'), 'seal') }
    if (!reader.atEnd) throw reader.fault('it has bytes behind its end')
    return { kind: 'last', end }
  }
  if (kind !== ENTRIES) throw reader.fault(`it is of the unknown kind ${kind}`)
  const entries: StoredEntry[] = []
  while (!reader.atEnd) {
    const storageClass = classOfNumber(reader.u8('class'))
    if (storageClass === undefined) throw reader.fault('an entry has an unknown class')
    const leaf = reader.bytes(reader.u8('leaf length'), 'leaf')
    const key = reader.key(reader.u16('key length'), 'key')
    entries.push({ key, class: storageClass, leaf, value: reader.bytes(reader.u32('value length'), 'value') })
  }
  return { kind: 'entries', entries }
}
