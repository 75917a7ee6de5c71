// What every storage offers (docs/storage-format.md draws the bytes): twelve verbs, no optional parts. Seven of them
// read (`ReadStore`); whoever has only those cannot write, and the type says so. Five more are for the one thread that
// writes (`Store`). Which kinds of storage there are stands in drivers.ts.
//
// A stored key is a path whose first segment is its namespace: `root/core/mounts/UUID`.

/** Where a written key belongs: replication selects and filters by it (paths filters name mounts). */
export type Scope = {
  readonly namespace: string
  /** UUID of a mount, or SYSTEM_SCOPE for what belongs to the cluster itself. */
  readonly mount: string
  /** Data of a mount that was created with `local` never leaves the cluster's DR set. */
  readonly local: boolean
}
export const SYSTEM_SCOPE = 'system'
export const ROOT_NAMESPACE = 'root'
export const systemScope: Scope = { namespace: ROOT_NAMESPACE, mount: SYSTEM_SCOPE, local: false }

/** replicated: to every secondary. local: to DR secondaries only. ignored: stays on this cluster. */
export type StorageClass = 'replicated' | 'local' | 'ignored'

export type Entry = { readonly key: string; readonly value: Buffer }

export type ListOptions = {
  /** Only names that sort after this one, which need not exist. */
  readonly after?: string
  /** At most so many names; absent: all. */
  readonly limit?: number
}

/** Texts that are not well-formed, prefixes without their '/' and negative limits are refused with StorageRefused. */
export interface Reader {
  /** A copy of the stored bytes, or undefined. */
  get(key: string): Promise<Buffer | undefined>
  /**
   * Names of the direct children of `prefix`, which is empty or ends in '/': sorted by their UTF-8 bytes,
   * a child that has children of its own ends in '/'. An unknown prefix has none.
   */
  list(prefix: string, options?: ListOptions): Promise<string[]>
  /** Entries of the whole subtree in key order, after the key `after`, at most `limit` of them. */
  scan(prefix: string, after: string, limit: number): Promise<Entry[]>
}

export interface Transaction extends Reader {
  /** Overwrites. Refused for a key whose prefix is in no class, or whose scope is not the key's (classes.ts). */
  put(scope: Scope, key: string, value: Buffer): void
  /** Succeeds for a key that is not there, and is then no change. */
  delete(scope: Scope, key: string): void
}

/** What is known of an entry without its value. */
export type EntryHead = { readonly class: StorageClass; readonly leaf: Buffer }

/** An entry with all that is stored with it. */
export type StoredEntry = Entry & EntryHead

/** Where a store stands. It changes with each append, in the same durable step. */
export type Position = {
  /** Index of the last record, 0 in a new store. */
  readonly index: number
  /** Chain of the last record; the history id in a new store. */
  readonly chain: Buffer
  readonly epoch: number
  readonly historyId: Buffer
}

/** A view that stays as it was, whatever is committed meanwhile: for verification, tree and backups. */
export interface Snapshot extends Reader {
  /** Index of the last change that the view contains. */
  readonly index: number
  readonly position: Position
  /** Of all entries. */
  count(): Promise<number>
  /** Entries of all classes after the key `after`, in key order, ended by the one that brings them to `bytes`. */
  stored(after: string, bytes: number): Promise<StoredEntry[]>
  close(): Promise<void>
}

export type ChangeOperation = {
  readonly kind: 'put' | 'delete'
  readonly class: StorageClass
  readonly scope: Scope
  readonly key: string
  /** 16 bytes, or empty where there was (or is) no entry, or where the class is `ignored`. */
  readonly oldLeaf: Buffer
  readonly newLeaf: Buffer
  /** The stored bytes; empty for a delete. */
  readonly value: Buffer
}

/** One committed transaction: the log's record. */
export type Change = {
  readonly index: number
  readonly epoch: number
  /** The writer's wall clock; for metrics only, nothing is decided by it. */
  readonly committedAtMs: number
  /** First 16 bytes of SHA-256(chain of the record before ‖ this record's body). */
  readonly chain: Buffer
  readonly operations: readonly ChangeOperation[]
}

export type TreeClass = Exclude<StorageClass, 'ignored'>
export type PageAddress = { readonly class: TreeClass; readonly scope: string; readonly page: number }
/** No digests: every bucket of the page is empty. */
export type TreePage = PageAddress & { readonly digests: Buffer }

export type TreeRoots = {
  readonly replicated: Buffer
  readonly local: Buffer
  /** Over both classes: equal on a disaster-recovery secondary. */
  readonly all: Buffer
}

/** A copy of the tree over the entries of a store (log/tree.ts). */
export interface TreeCopy {
  roots(): TreeRoots
  /** All pages that hold something. */
  pages(): readonly TreePage[]
}

/** What a thread needs that serves reads: no verb of it writes. */
export interface ReadStore extends Reader {
  /** Index of the last committed change; 0 in a new store. It only grows. */
  lastIndex(): Promise<number>
  /**
   * Records after `index` in order, at most `limit`.
   * @throws HistoryGone where the log no longer reaches back so far: the reader starts anew.
   */
  changesSince(index: number, limit: number): Promise<Change[]>
  snapshot(): Promise<Snapshot>
  /** Waits for what is being committed. Every later verb throws StorageClosed, a second close does nothing. */
  close(): Promise<void>
}

export interface Store extends ReadStore {
  /**
   * Runs `work` and commits what it wrote, with its log record, in one durable step; what was read is as it was at
   * commit. `work` may run several times, so it has no effect but on `tx` and its result; it starts no transaction of
   * its own. Where it throws, nothing is written, and what it throws after reading what was changed meanwhile is not
   * passed on: it runs again. A transaction that wrote nothing leaves no record.
   * An entry keeps its class as long as it is there: a write under another one is refused.
   * @throws StorageConflict after many lost races, where other nodes write too; whatever `work` throws.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /**
   * Called after each commit is durable, in order, before the transaction's caller goes on. It must not throw: a cache
   * that missed a change is not safe to go on with, so the store then ends as after StorageFailed.
   */
  onCommit(listener: (change: Change) => void): void
  /**
   * The key of the leaves of replicated and local entries; known from unseal to seal. Without it such writes are
   * refused with StorageRefused: a store never holds an entry without its leaf.
   */
  setLeafKey(key: Buffer | undefined): void
  /**
   * Roots of the tree over all replicated and local entries (tree.ts), as of `index`: two stores with the same entries
   * have the same roots, whatever their histories. @throws StorageRefused while there is no leaf key
   */
  roots(): Promise<TreeRoots & { readonly index: number }>
  /** A copy of the tree, to find out where two stores differ. @throws StorageRefused while there is no leaf key */
  tree(): Promise<{ readonly index: number; readonly tree: TreeCopy }>
}

export const MAX_KEY_BYTES = 1024
export const MAX_VALUE_BYTES = 64 * 1024 * 1024
/** Of all keys and values that one transaction writes; its log record is one row. */
export const MAX_TRANSACTION_BYTES = 128 * 1024 * 1024

/** Base of what storage throws; the pipeline translates these in one place. */
export class StorageError extends Error {
  override name = 'StorageError'
}
/** The transaction lost against others too often. */
export class StorageConflict extends StorageError {
  override name = 'StorageConflict'
}
/** This store cannot be written from here: the request travels to the thread that owns writes. */
export class StorageReadOnly extends StorageError {
  override name = 'StorageReadOnly'
}
/** A key or value out of bounds, an unclassified prefix, a write while sealed: says which. */
export class StorageRefused extends StorageError {
  override name = 'StorageRefused'
}
/** More bytes than a value, or a transaction, may have. */
export class StorageTooLarge extends StorageRefused {
  override name = 'StorageTooLarge'
  readonly limitBytes: number
  constructor(message: string, limitBytes: number) {
    super(message)
    this.limitBytes = limitBytes
  }
}
/** The keys are not there: the server is sealed, or is being sealed. */
export class Sealed extends StorageRefused {
  override name = 'Sealed'
}
export class StorageClosed extends StorageError {
  override name = 'StorageClosed'
}
/** Sealed, or closed for good: what works by itself ends with it, and there is nothing to tell. */
export const isClosed = (cause: unknown): boolean => cause instanceof Sealed || cause instanceof StorageClosed
/** The log does not reach back to the asked index. */
export class HistoryGone extends StorageError {
  override name = 'HistoryGone'
}
/** What is stored cannot be what was written: says where. Never repaired silently. */
export class StorageCorrupt extends StorageError {
  override name = 'StorageCorrupt'
}
/** The device is full: nothing was written, writes may succeed again when there is space. */
export class StorageFull extends StorageError {
  override name = 'StorageFull'
}
/** A write could not be made durable. The node must end: what the device holds is unknown (threats P-02). */
export class StorageFailed extends StorageError {
  override name = 'StorageFailed'
}
