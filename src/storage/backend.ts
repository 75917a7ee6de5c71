// What one kind of storage has to do itself. What is the same for all kinds (transactions, order, leaves, checks of
// keys) stands above it: read-store.ts and commit/transactional-store.ts. Verbs that read are in `ReadBackend`,
// those for writing in `Backend`. The layers above have checked the arguments.
//
// Any verb may be slow. Nothing above relies on the order in which verbs complete, except that appends take effect in
// the order in which they were called. Values and records that a verb returns belong to the caller; other buffers may
// be shared and must not be altered. What `append` and `saveTree` are given must not be altered either: a backend may
// keep it.

import type { BucketKeys, BucketRow, Entry, EntryHead, KeyLeaf, LogRecord, StoredEntry, TreePage } from './contract.ts'
import { CHAIN_BYTES, type EncodedChange } from './log/change-record.ts'
import type { History, LogHold, Origin, Position } from './peer-log.ts'

/** Reads entries of one state: the newest one, or that of a snapshot. Semantics are those of `Reader` (contract.ts). */
export interface BackendView {
  get(key: string): Promise<Buffer | undefined>
  /** `after` is a name, empty for the beginning; `limit` is a whole number or Infinity. */
  list(prefix: string, after: string, limit: number): Promise<string[]>
  scan(prefix: string, after: string, limit: number): Promise<Entry[]>
  close(): Promise<void>
}

/** The backend's part of `Snapshot` (contract.ts), and the leaves from which the tree is rebuilt. */
export interface BackendSnapshot extends BackendView {
  /** Index of the last change that the view contains. */
  readonly index: number
  /** Leaves of the entries after the key `after`, in key order, at most `limit`; ignored entries are left out. */
  leaves(after: string, limit: number): Promise<KeyLeaf[]>
  readonly position: Position
  /** As `ReadBackend.histories`, of the same moment. */
  readonly histories: readonly History[]
  /** As `Snapshot.heads` and `Snapshot.bucketKeys`. */
  heads(keys: readonly string[]): Promise<(EntryHead | undefined)[]>
  bucketKeys(buckets: readonly number[], after: number): Promise<BucketKeys>
  /** Number of entries of all classes. */
  count(): Promise<number>
  /** Entries of all classes after the key `after`, in key order, ending with the one that brings them to `bytes`. */
  stored(after: string, bytes: number): Promise<StoredEntry[]>
}

/** What a thread needs of a backend that only reads. */
export interface ReadBackend extends BackendView {
  position(): Promise<Position>
  /** The histories that this store had, oldest first; the last one is the present. */
  histories(): Promise<readonly History[]>
  /**
   * Records after `index` in order: at most `limit`, and no more once they reach MAX_RUN_BYTES. Undefined if the log
   * does not reach back to `index`, or `index` lies in the future.
   */
  records(index: number, limit: number): Promise<LogRecord[] | undefined>
  snapshot(): Promise<BackendSnapshot>
}

/** The tree as it was after the record `index`. The chain of that record proves that the log is still the same one. */
export type SavedTree = {
  readonly index: number
  readonly chain: Buffer
  /** TREE_VERSION of the program that saved it; 1 before that was stored. */
  readonly version: number
  readonly pages: readonly TreePage[]
}
/** A tree to save, whole or in part. */
export type TreeSave = SavedTree & {
  /** `pages` is the whole tree, not only what changed since the last save. */
  readonly isWhole: boolean
  /** The writer's wall clock. */
  readonly savedAtMs: number
}

/** A place in the log at which the tree was saved. The log is shortened by whole spans between two of them. */
export type Checkpoint = {
  readonly index: number
  /** Bytes of the records since the checkpoint before. */
  readonly logBytes: number
  readonly savedAtMs: number
}

/**
 * Rows of buckets that come behind all others. Before that the oldest `swept` ones go, and each key of theirs that has
 * an entry gets one new row.
 */
export type BucketStep = { readonly rows: readonly BucketRow[]; readonly swept: number }

/** What the one thread that writes needs of a backend. */
export interface Backend extends ReadBackend {
  /** Class and leaf of each key, in order; undefined for a key that is not there. */
  heads(keys: readonly string[]): Promise<(EntryHead | undefined)[]>
  /**
   * Applies the operations, adds the records to the log and the histories to the list, and moves the position on
   * (log/move.ts): all of it, durably, or nothing (threats P-01, P-05). The changes follow each other, and the first
   * follows the position. `origins` are taken into the position too, behind those of the changes; there may then be no
   * changes. `buckets` is done in the same step, as `addBuckets` does it.
   * @throws StorageFull if the device is full and nothing was written; anything else that it throws is final
   */
  append(changes: readonly EncodedChange[], origins?: readonly Origin[], buckets?: BucketStep): Promise<void>
  /** As the verbs of `BackendSnapshot`, of the newest state. */
  leaves(after: string, limit: number): Promise<KeyLeaf[]>
  stored(after: string, bytes: number): Promise<StoredEntry[]>
  /** Number of keys after the key `after`, at most `limit`, and the last of them; '' if there is none. */
  countKeys(after: string, limit: number): Promise<{ readonly count: number; readonly last: string }>
  /** Sets leaves of entries that are there, durably. The log has no record of it. Throws as `append` does. */
  setLeaves(leaves: readonly Pick<KeyLeaf, 'key' | 'leaf'>[]): Promise<void>
  /** The tree as it was saved last, unchecked; undefined if none was saved. */
  savedTree(): Promise<SavedTree | undefined>
  /** Saves pages and a checkpoint in one durable step; removes pages without digests. Throws as `append` does. */
  saveTree(save: TreeSave): Promise<Checkpoint>
  /** Removes all rows of buckets, durably. Throws as `append` does. */
  clearBuckets(): Promise<void>
  /** Adds rows and removes old ones, in one durable step. Throws as `append` does. */
  addBuckets(step: BucketStep): Promise<void>
  /** The checkpoints whose spans still have records, and the last one in any case; the oldest first. */
  checkpoints(): Promise<Checkpoint[]>
  /** Index of the oldest record; one more than the last index if there is none. */
  firstIndex(): Promise<number>
  /** Index of the record that `count` younger ones follow; 0 if the log has not so many. */
  indexBefore(count: number): Promise<number>
  /** Bytes of the records after the index `after`, up to and including `upTo`. */
  logBytesBetween(after: number, upTo: number): Promise<number>
  /** Who holds the log, in any order. */
  holds(): Promise<LogHold[]>
  /** Replaces all holds in one durable step. Throws as `append` does. */
  saveHolds(holds: readonly LogHold[]): Promise<void>
  /** Removes the oldest records up to `index`, at most `limit`. Throws as `append` does. */
  forgetRecords(index: number, limit: number): Promise<void>
  /**
   * Removes rows of buckets whose key has no entry, among so many rows behind `after`, which is 0 at first and then
   * what was returned; undefined: those were the last. Throws as `append` does.
   */
  dropGoneBuckets(after: number, limit: number): Promise<number | undefined>
  /**
   * Works for some milliseconds at overwriting, wherever the device holds them, what was deleted before the first of
   * these calls. `done`: nothing of it is left, durably, and the next call begins anew. `held`: a reader needs what was
   * there. Throws as `append` does.
   */
  erase(): Promise<EraseStep>
  /** Resolves when what was overwritten so far is durable. Others may append meanwhile. Throws as `append` does. */
  flushErased(): Promise<void>
}

/** What a step of erasing came to. */
export type EraseStep = 'more' | 'held' | 'done'

/** A run of records ends with the one that reaches this, so that a follower's memory is bounded. */
export const MAX_RUN_BYTES = 16 * 1024 * 1024
/** Epoch of a new store. A restore or a promotion raises it. */
export const FIRST_EPOCH = 1
/** The length of a chain, since the first chain of a history continues from its id. */
export const HISTORY_ID_BYTES = CHAIN_BYTES
