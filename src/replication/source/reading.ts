// What fills one message of a source.
import type { LogRecord, Snapshot, StoredEntry } from '../../storage/contract.ts'
import { begunBy } from '../../storage/log/change-record.ts'
import type { Place, SentEntry } from '../protocol/messages.ts'

/** The place without what else a position tells. */
export const placeOf = ({ historyId, index, chain }: Place): Place => ({ historyId, index, chain })

/** The first records that fit into a message and are of one history. */
export function runOf(records: readonly LogRecord[], fullBytes: number): readonly LogRecord[] {
  let bytes = 0
  const end = records.findIndex(({ record }, at) => {
    const isFull = bytes >= fullBytes
    bytes += record.length
    return at > 0 && (isFull || begunBy(record) !== undefined)
  })
  return end === -1 ? records : records.slice(0, end)
}

/** Sum of the lengths. */
export const totalBytes = (records: readonly Buffer[]): number => records.reduce((sum, { length }) => sum + length, 0)

/** Bytes of keys and values. */
export const bytesOfEntries = (entries: readonly SentEntry[]): number =>
  entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0)

/** Entries of the first keys, as many as fill a message; `rest` are the others. */
export async function valuesOf(snapshot: Snapshot, keys: readonly string[], fullBytes: number) {
  const entries: StoredEntry[] = []
  const gone: string[] = []
  const heads = await snapshot.heads(keys)
  let [bytes, at] = [0, 0]
  for (; at < keys.length && bytes < fullBytes; at++) {
    const key = keys[at] as string
    const head = heads[at]
    const value = head === undefined ? undefined : await snapshot.get(key)
    bytes += key.length + (value?.length ?? 0)
    if (head === undefined || value === undefined) gone.push(key)
    else entries.push({ key, value, ...head })
  }
  return { entries, gone, rest: keys.slice(at) }
}
