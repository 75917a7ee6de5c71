// What one kind of storage has to do itself; everything that all kinds do alike (transactions, order, leaves, checks
// of keys) stands above it, in transactional-store.ts. All of it may take its time: nothing above relies on order of
// completion, except that appends take effect in the order in which they were called.
import type { EncodedChange } from './change-record.ts'
import type { Entry, StorageClass } from './contract.ts'

export interface BackendView {
  get(key: string): Promise<Buffer | undefined>
  /** `after` is a name, empty for the beginning; `limit` is a whole number or Infinity. */
  list(prefix: string, after: string, limit: number): Promise<string[]>
  scan(prefix: string, after: string, limit: number): Promise<Entry[]>
  close(): Promise<void>
}

export interface BackendSnapshot extends BackendView {
  readonly index: number
}

/** Where a store stands. It changes with each append, in the same durable step. */
export type Position = {
  /** Index of the last record, 0 in a new store. */
  readonly index: number
  /** Chain of the last record; the history id in a new store. */
  readonly chain: Buffer
  readonly epoch: number
  readonly historyId: Buffer
}

export type LogRecord = { readonly index: number; readonly record: Buffer }

export interface ReadBackend extends BackendView {
  position(): Promise<Position>
  /**
   * Records after `index` in order: at most `limit`, and no more once they exceed MAX_RUN_BYTES.
   * Undefined where the log does not reach back to it, or where it lies in the future.
   */
  records(index: number, limit: number): Promise<LogRecord[] | undefined>
  snapshot(): Promise<BackendSnapshot>
}

/** What is known of an entry without its value. */
export type EntryHead = { readonly class: StorageClass; readonly leaf: Buffer }

export interface Backend extends ReadBackend {
  /** One for each key, in order. */
  heads(keys: readonly string[]): Promise<(EntryHead | undefined)[]>
  /**
   * Applies the operations and adds the records to the log: all of it, durably, or nothing.
   * @throws StorageFull where the device is full and nothing was written; anything else that it throws is final
   */
  append(changes: readonly EncodedChange[]): Promise<void>
}

/** A run of records ends with the one that passes this. */
export const MAX_RUN_BYTES = 16 * 1024 * 1024
/** Epoch of a store that was never promoted. */
export const FIRST_EPOCH = 1
export const HISTORY_ID_BYTES = 16
