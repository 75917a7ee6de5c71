// The log's record of one committed transaction. All numbers are big-endian.
//
//   record     length u32 (of what follows the checksum) | CRC-32 u32 (of the same) | chain 16 | body
//   body       format u8 = 2 | flags u8 | index u64 | epoch u32 | committed at u64 (ms)
//              | history id 16, if the record is the first of its history
//              | origin in the family dr, if there is one | origin in the family performance, likewise
//              | operations u32 | operation ...
//   flags      1, 2, 4: it has replicated, local, ignored operations · 8: first of its history
//              · 16, 32: it has an origin in the family dr, performance
//   origin     history id 16 | index u64 | chain 16: the place of the change in the log that it was taken over from
//   operation  kind u8 (1 put, 2 delete) | class u8 (1 replicated, 2 local, 3 ignored) | flags u8 (1: local mount)
//              | mount length u8 | mount | key length u16 | key
//              | old leaf length u8 (0 or 16) | old leaf | new leaf length u8 (0 or 16) | new leaf
//              | value length u32 | value
//
// The namespace of an operation is the first segment of its key. The chain is the first 16 bytes of SHA-256(chain of
// the record before ‖ body); before the first record of a history it is the id of the history. Format 1 had neither
// flags nor what they announce. Its records stay as they are, and are read for ever.
import { strict as assert } from 'node:assert'
import { crc32 } from 'node:zlib'
import { sha256 } from '../../crypto/primitives/digest.ts'
import type { Change, ChangeOperation, StorageClass } from '../contract.ts'
import { StorageCorrupt } from '../errors.ts'
import type { History, Origin, ReplicationFamily } from '../peer-log.ts'
import { CLASS_NUMBERS, classOfNumber, LEAF_BYTES } from './leaf.ts'
import { RecordReader } from './record-reader.ts'

/** The format that is written. Format 1 is read too; any other is refused. */
export const RECORD_FORMAT = 2
const FIRST_FORMAT = 1
/** SHA-256 cut to 128 bits. */
export const CHAIN_BYTES = 16
/** An origin as records and the store hold it. */
export const ORIGIN_BYTES = CHAIN_BYTES + 8 + CHAIN_BYTES
/** Stands for the origins of what this cluster wrote itself. */
export const NO_ORIGINS: readonly Origin[] = []
const CHAIN_AT = 8
const BODY_AT = CHAIN_AT + CHAIN_BYTES
const BODY_HEAD_BYTES = 1 + 1 + 8 + 4 + 8 + 4
/** Behind format, flags, index, epoch and time. */
const HISTORY_AT = BODY_AT + 1 + 1 + 8 + 4 + 8
/** Bytes of an operation without its texts, leaves and value. */
const OPERATION_HEAD_BYTES = 1 + 1 + 1 + 1 + 2 + 1 + 1 + 4
const PUT = 1
const DELETE = 2
const LOCAL_MOUNT = 1

/** Bits of a record's flags that say of which classes its operations are. */
const CLASS_FLAGS: Readonly<Record<ChangeOperation['class'], number>> = { replicated: 1, local: 2, ignored: 4 }
const ALL_CLASSES = 7
const BEGINS_HISTORY = 8
/** In the order in which a record holds the origins. */
const ORIGIN_FLAGS: readonly (readonly [ReplicationFamily, number])[] = [
  ['dr', 16],
  ['performance', 32],
]
const KNOWN_FLAGS = 63

/** A change that has no place in the chain yet. */
export type ChangeDraft = Omit<Change, 'chain'>
/** A change together with its record, byte for byte what the log stores. */
export type EncodedChange = {
  readonly change: Change
  readonly record: Buffer
  /** The history that begins with the change, where the store does not have it in its list yet. */
  readonly history?: History
}

/** Links the draft to the change before it, and encodes its record. */
export function encodeChange(draft: ChangeDraft, previousChain: Buffer): EncodedChange {
  const { beginsHistory } = draft
  assert(previousChain.length === CHAIN_BYTES)
  assert(beginsHistory === undefined || beginsHistory.equals(previousChain), 'a history begins with its id')
  const record = recordWithoutChain(draft)
  const chain = nextChain(previousChain, record)
  return { change: { ...draft, chain }, record: withChain(record, chain) }
}

/**
 * The record of a change as a peer gets it, maybe with fewer operations than it has in the log. It names its place and
 * chain in that log, so the chain is no hash over these bytes.
 */
export function encodeSent(change: Change): Buffer {
  return withChain(recordWithoutChain(change), change.chain)
}

function recordWithoutChain(draft: ChangeDraft): Buffer {
  const { beginsHistory, origins, operations } = draft
  const length = BODY_AT + BODY_HEAD_BYTES + (beginsHistory?.length ?? 0) + origins.length * ORIGIN_BYTES
  const record = Buffer.alloc(operations.reduce((sum, each) => sum + operationBytes(each), length))
  let at = record.writeUInt8(RECORD_FORMAT, BODY_AT)
  at = record.writeUInt8(flagsOf(draft), at)
  at = record.writeBigUInt64BE(BigInt(draft.index), at)
  at = record.writeUInt32BE(draft.epoch, at)
  at = record.writeBigUInt64BE(BigInt(draft.committedAtMs), at)
  if (beginsHistory !== undefined) at += beginsHistory.copy(record, at)
  for (const [family] of ORIGIN_FLAGS) {
    const origin = origins.find((each) => each.family === family)
    if (origin !== undefined) at += encodeOrigin(origin).copy(record, at)
  }
  at = record.writeUInt32BE(operations.length, at)
  for (const operation of operations) at = writeOperation(record, at, operation)
  assert(at === record.length, 'a change has at most one origin of a family')
  return record
}

function withChain(record: Buffer, chain: Buffer): Buffer {
  chain.copy(record, CHAIN_AT)
  record.writeUInt32BE(record.length - CHAIN_AT, 0)
  record.writeUInt32BE(crc32(record.subarray(CHAIN_AT)), 4)
  return record
}

/** The history that begins with the record, by its flags alone, unchecked; undefined for any other, and in format 1. */
export function begunBy(record: Buffer): Buffer | undefined {
  if (record.readUInt8(BODY_AT) !== RECORD_FORMAT || (record.readUInt8(BODY_AT + 1) & BEGINS_HISTORY) === 0) return
  return record.subarray(HISTORY_AT, HISTORY_AT + CHAIN_BYTES)
}

/** When the change was committed, by the clock of its writer, as it stands in the record, unchecked. */
export function committedAtOf(record: Buffer): number {
  const flagBytes = record.readUInt8(BODY_AT) === FIRST_FORMAT ? 0 : 1
  return Number(record.readBigUInt64BE(BODY_AT + 1 + flagBytes + 8 + 4))
}

/**
 * The classes of the operations of a record, by its flags alone, unchecked. Undefined for a record of format 1, which
 * has none: it must be decoded.
 */
export function classesOf(record: Buffer): ReadonlySet<StorageClass> | undefined {
  if (record.readUInt8(BODY_AT) !== RECORD_FORMAT) return undefined
  const flags = record.readUInt8(BODY_AT + 1)
  const classes = Object.entries(CLASS_FLAGS) as unknown as readonly (readonly [StorageClass, number])[]
  return new Set(classes.filter(([, flag]) => flags & flag).map(([storageClass]) => storageClass))
}

function flagsOf({ beginsHistory, origins, operations }: ChangeDraft): number {
  let flags = beginsHistory === undefined ? 0 : BEGINS_HISTORY
  for (const [family, flag] of ORIGIN_FLAGS) if (origins.some((origin) => origin.family === family)) flags |= flag
  return flags | classFlags(operations)
}

function classFlags(operations: readonly ChangeOperation[]): number {
  let flags = 0
  for (const operation of operations) flags |= CLASS_FLAGS[operation.class]
  return flags
}

/** The bytes of an origin, without its family. */
export function encodeOrigin({ historyId, index, chain }: Origin): Buffer {
  const number = Buffer.alloc(8)
  number.writeBigUInt64BE(BigInt(index))
  return Buffer.concat([historyId, number, chain])
}

/** The chain that the record must have if the one before it has `previousChain`. Computed from its body alone. */
export function nextChain(previousChain: Buffer, record: Buffer): Buffer {
  return sha256(previousChain, record.subarray(BODY_AT)).subarray(0, CHAIN_BYTES)
}

/** The chain as it stands in the record, unchecked. */
export function chainOf(record: Buffer): Buffer {
  return record.subarray(CHAIN_AT, BODY_AT)
}

function operationBytes({ scope, key, oldLeaf, newLeaf, value }: ChangeOperation): number {
  const texts = Buffer.byteLength(scope.mount) + Buffer.byteLength(key)
  return OPERATION_HEAD_BYTES + texts + oldLeaf.length + newLeaf.length + value.length
}

function writeOperation(record: Buffer, start: number, operation: ChangeOperation): number {
  const { kind, scope, key, oldLeaf, newLeaf, value } = operation
  let at = record.writeUInt8(kind === 'put' ? PUT : DELETE, start)
  at = record.writeUInt8(CLASS_NUMBERS[operation.class], at)
  at = record.writeUInt8(scope.local ? LOCAL_MOUNT : 0, at)
  at = record.writeUInt8(Buffer.byteLength(scope.mount), at)
  at += record.write(scope.mount, at)
  at = record.writeUInt16BE(Buffer.byteLength(key), at)
  at += record.write(key, at)
  for (const leaf of [oldLeaf, newLeaf]) {
    at = record.writeUInt8(leaf.length, at)
    at += leaf.copy(record, at)
  }
  at = record.writeUInt32BE(value.length, at)
  return at + value.copy(record, at)
}

/**
 * Decodes one record and checks its length, checksum and form, not its chain. Buffers are views of `record`. `name`
 * names the record in messages: `log record 17`.
 * @throws UnknownFormat for a record that a newer program wrote, StorageCorrupt for a damaged one
 */
export function decodeChange(record: Buffer, name: string): Change {
  const reader = new RecordReader(record, name)
  if (reader.u32('length') !== record.length - CHAIN_AT) throw reader.fault('its length is not the stated one')
  if (reader.u32('checksum') !== crc32(record.subarray(CHAIN_AT))) throw reader.fault('its checksum does not match')
  const chain = reader.bytes(CHAIN_BYTES, 'chain')
  const format = reader.u8('format')
  if (format !== FIRST_FORMAT && format !== RECORD_FORMAT) {
    throw reader.unknown(`its format is ${format}, known are ${FIRST_FORMAT} and ${RECORD_FORMAT}`)
  }
  const flags = format === FIRST_FORMAT ? undefined : readFlags(reader)
  const head = { index: reader.u64('index'), epoch: reader.u32('epoch'), committedAtMs: reader.u64('time') }
  const beginsHistory = (flags ?? 0) & BEGINS_HISTORY ? reader.bytes(CHAIN_BYTES, 'history id') : undefined
  const origins = readOrigins(reader, flags ?? 0)
  const count = reader.u32('operation count')
  const operations: ChangeOperation[] = []
  for (let number = 1; number <= count; number++) operations.push(readOperation(reader, `operation ${number}`))
  if (operations.length === 0) throw reader.fault('it has no operation')
  if (!reader.atEnd) throw reader.fault('it has bytes behind its last operation')
  if (flags !== undefined && (flags & ALL_CLASSES) !== classFlags(operations)) {
    throw reader.fault('its flags do not name the classes of its operations')
  }
  return { ...head, beginsHistory, origins, chain, operations }
}

function readFlags(reader: RecordReader): number {
  const flags = reader.u8('flags')
  if (flags > KNOWN_FLAGS) throw reader.unknown(`it has the unknown flags ${flags}`)
  return flags
}

function readOrigins(reader: RecordReader, flags: number): readonly Origin[] {
  const families = ORIGIN_FLAGS.filter(([, flag]) => flags & flag)
  return families.length === 0 ? NO_ORIGINS : families.map(([family]) => readOrigin(reader, family))
}

function readOrigin(reader: RecordReader, family: ReplicationFamily): Origin {
  const historyId = reader.bytes(CHAIN_BYTES, `origin ${family}: history id`)
  const index = reader.u64(`origin ${family}: index`)
  return { family, historyId, index, chain: reader.bytes(CHAIN_BYTES, `origin ${family}: chain`) }
}

/** Reads what `encodeOrigin` made. `name` names it in messages. @throws StorageCorrupt */
export function decodeOrigin(family: ReplicationFamily, bytes: Buffer, name: string): Origin {
  const reader = new RecordReader(bytes, name)
  const origin = readOrigin(reader, family)
  if (!reader.atEnd) throw reader.fault('it is too long')
  return origin
}

function readOperation(reader: RecordReader, name: string): ChangeOperation {
  const kind = reader.u8(`${name}: kind`)
  if (kind !== PUT && kind !== DELETE) throw reader.unknown(`${name} is of the unknown kind ${kind}`)
  const number = reader.u8(`${name}: class`)
  const storageClass = classOfNumber(number)
  if (storageClass === undefined) throw reader.unknown(`${name} is of the unknown class ${number}`)
  const flags = reader.u8(`${name}: flags`)
  if (flags !== 0 && flags !== LOCAL_MOUNT) throw reader.unknown(`${name} has the unknown flags ${flags}`)
  const mount = reader.text(reader.u8(`${name}: mount length`), `${name}: mount`)
  const key = reader.key(reader.u16(`${name}: key length`), `${name}: key`)
  const oldLeaf = readLeaf(reader, `${name}: old leaf`)
  const newLeaf = readLeaf(reader, `${name}: new leaf`)
  const value = reader.bytes(reader.u32(`${name}: value length`), `${name}: value`)
  const scope = { namespace: key.slice(0, key.indexOf('/')), mount, local: flags === LOCAL_MOUNT }
  const operation = {
    kind: kind === PUT ? 'put' : 'delete',
    class: storageClass,
    scope,
    key,
    oldLeaf,
    newLeaf,
    value,
  } as const
  if (!hasTheRightLeaves(operation)) throw reader.fault(`${name} has leaves that do not fit its kind and class`)
  return operation
}

function readLeaf(reader: RecordReader, name: string): Buffer {
  const length = reader.u8(name)
  if (length !== 0 && length !== LEAF_BYTES) throw reader.fault(`${name} has ${length} bytes`)
  return reader.bytes(length, name)
}

/** True if the leaves are present exactly where they should be. A delete is recorded only if there was an entry. */
function hasTheRightLeaves({ kind, class: storageClass, oldLeaf, newLeaf, value }: ChangeOperation): boolean {
  if (kind === 'delete' && (value.length > 0 || newLeaf.length > 0)) return false
  if (storageClass === 'ignored') return oldLeaf.length === 0 && newLeaf.length === 0
  return kind === 'put' ? newLeaf.length === LEAF_BYTES : oldLeaf.length === LEAF_BYTES
}

/**
 * Decodes neighbouring records and checks that each continues the one before. The first record of a history continues
 * from the id that it names, at a higher index and epoch. The link of the first record here is not checked: what
 * precedes it is not here.
 * @throws StorageCorrupt
 */
export function decodeRun(records: readonly { readonly index: number; readonly record: Buffer }[]): Change[] {
  const changes: Change[] = []
  let previous: Change | undefined
  for (const { index, record } of records) {
    const name = `log record ${index}`
    const change = decodeChange(record, name)
    if (change.index !== index) throw new StorageCorrupt(`The ${name} says that it is number ${change.index}`)
    if (previous !== undefined && !continues(previous, change, record)) {
      throw new StorageCorrupt(`The ${name} does not continue the chain of log record ${previous.index}`)
    }
    previous = change
    changes.push(change)
  }
  return changes
}

/** True if `change`, which `record` encodes, can stand behind `previous` in a log. */
export function continues(previous: Change, change: Change, record: Buffer): boolean {
  const { beginsHistory } = change
  if (beginsHistory === undefined) {
    return change.index === previous.index + 1 && nextChain(previous.chain, record).equals(change.chain)
  }
  const isLater = change.index > previous.index && change.epoch > previous.epoch
  return isLater && nextChain(beginsHistory, record).equals(change.chain)
}
