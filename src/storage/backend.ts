// What one kind of storage has to do itself; everything that all kinds do alike (transactions, order, leaves, checks
// of keys) stands above it, in transactional-store.ts. Fourteen verbs: seven read (`ReadBackend`), seven more are for
// writing (`Backend`). All of it may take its time: nothing above relies on order of completion, except that appends
// take effect in the order in which they were called.

import type { Entry, EntryHead, Position, StoredEntry, TreeClass, TreePage } from './contract.ts'
import type { EncodedChange } from './log/change-record.ts'

export interface BackendView {
  get(key: string): Promise<Buffer | undefined>
  /** `after` is a name, empty for the beginning; `limit` is a whole number or Infinity. */
  list(prefix: string, after: string, limit: number): Promise<string[]>
  scan(prefix: string, after: string, limit: number): Promise<Entry[]>
  close(): Promise<void>
}

export type KeyLeaf = { readonly key: string; readonly class: TreeClass; readonly leaf: Buffer }

export interface BackendSnapshot extends BackendView {
  readonly index: number
  /** Leaves of the entries after the key `after`, in key order, at most `limit`; ignored entries are left out. */
  leaves(after: string, limit: number): Promise<KeyLeaf[]>
  readonly position: Position
  count(): Promise<number>
  /** Entries after the key `after`, in key order, ended by the one that brings them to `bytes`; all classes. */
  stored(after: string, bytes: number): Promise<StoredEntry[]>
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

/** The tree as it was behind the record `index`, whose chain tells that the log is still the same one. */
export type SavedTree = { readonly index: number; readonly chain: Buffer; readonly pages: readonly TreePage[] }
export type TreeSave = SavedTree & {
  /** `pages` is the whole tree, not what changed since it was saved last. */
  readonly isWhole: boolean
  /** The writer's wall clock. */
  readonly savedAtMs: number
}

/** Where the tree was saved once: by these the log is shortened. */
export type Checkpoint = {
  readonly index: number
  /** Of the records since the checkpoint before. */
  readonly logBytes: number
  readonly savedAtMs: number
}

export interface Backend extends ReadBackend {
  /** One for each key, in order. */
  heads(keys: readonly string[]): Promise<(EntryHead | undefined)[]>
  /**
   * Applies the operations and adds the records to the log: all of it, durably, or nothing.
   * @throws StorageFull where the device is full and nothing was written; anything else that it throws is final
   */
  append(changes: readonly EncodedChange[]): Promise<void>
  savedTree(): Promise<SavedTree | undefined>
  /** Pages, index and a checkpoint in one durable step. Pages without digests are removed. Throws as `append` does. */
  saveTree(save: TreeSave): Promise<Checkpoint>
  /** Those whose records are not all gone, and the last one; the oldest first. */
  checkpoints(): Promise<Checkpoint[]>
  /** Index of the oldest record; one more than the last index where there is none. */
  firstIndex(): Promise<number>
  /** Removes the oldest records up to `index`, at most `limit`. Throws as `append` does. */
  forgetRecords(index: number, limit: number): Promise<void>
}

/** A run of records ends with the one that passes this. */
export const MAX_RUN_BYTES = 16 * 1024 * 1024
/** Epoch of a store that was never promoted. */
export const FIRST_EPOCH = 1
export const HISTORY_ID_BYTES = 16
