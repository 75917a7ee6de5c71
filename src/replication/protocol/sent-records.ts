// What of the log a secondary gets: the records as they are stored, without the operations that are not for it. And
// what a secondary makes of them.
import { strict as assert } from 'node:assert'
import { SENT_CLASSES } from '../../storage/classes.ts'
import type { AdoptedChange, ChangeOperation, LogRecord } from '../../storage/contract.ts'
import { StorageCorrupt, UnknownFormat } from '../../storage/errors.ts'
import { classesOf, decodeChange, encodeSent } from '../../storage/log/change-record.ts'
import type { Origin, ReplicationFamily } from '../../storage/peer-log.ts'
import { ProtocolFault } from './frames.ts'

/**
 * The record as it is sent; undefined if nothing of it goes over the family. Most are sent as they are stored, and then
 * not decoded. `isReached` tells for the keys of a filtered secondary whether it gets them. @throws StorageCorrupt
 */
export function sentRecord(
  { index, record }: LogRecord,
  family: ReplicationFamily,
  isReached?: (key: string) => boolean,
): Buffer | undefined {
  const sent = SENT_CLASSES[family]
  const classes = classesOf(record)
  if (classes !== undefined) {
    if (isReached === undefined && classes.isSubsetOf(sent)) return record
    if (classes.isDisjointFrom(sent)) return undefined
  }
  const change = decodeChange(record, `log record ${index}`)
  const isWanted = ({ class: of, key }: ChangeOperation): boolean => sent.has(of) && isReached?.(key) !== false
  const operations = change.operations.filter(isWanted)
  if (operations.length === change.operations.length && classes !== undefined) return record
  return operations.length === 0 ? undefined : encodeSent({ ...change, operations })
}

/**
 * The change that a sent record is, to be applied: it stood in the history `historyId` of the sender.
 * @throws ProtocolFault for what no sender sends; reason 'version' for what only a newer one does
 */
export function receivedChange(record: Buffer, family: ReplicationFamily, historyId: Buffer): AdoptedChange {
  const { index, chain, beginsHistory, origins, committedAtMs, operations } = decoded(record)
  if (beginsHistory !== undefined && !beginsHistory.equals(historyId)) {
    throw new ProtocolFault('damaged', `The sent record ${index} begins another history than the one it is sent for`)
  }
  const own: Origin = { family, historyId, index, chain }
  // The sender's place in the log that it follows for performance: a DR secondary may take its place there. No other
  // secondary takes the place of its primary: where that one once stood in a DR primary's log is its own.
  const others = family === 'dr' ? origins.filter((origin) => origin.family !== family) : []
  return { origins: [own, ...others], committedAtMs, operations }
}

function decoded(record: Buffer) {
  try {
    return decodeChange(record, 'sent record')
  } catch (cause) {
    assert(cause instanceof StorageCorrupt)
    throw new ProtocolFault(cause instanceof UnknownFormat ? 'version' : 'damaged', cause.message, { cause })
  }
}
