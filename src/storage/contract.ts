// What every storage offers to the rooms above it, no verb of it optional. Those of `ReadStore` read; a thread that
// holds only those cannot write, and the type says so. `Store` has the verbs of the one thread that writes. drivers.ts
// lists the kinds of storage, errors.ts what they throw; docs/storage-format.md draws the bytes;
// test/conformance/storage.ts holds every kind to this file, one test a clause.
//
//   entry    a key and its value. A key is a path whose first segment is its namespace: `root/core/mounts/UUID`
//   scope    namespace and mount of an entry: replication selects and filters by it
//   class    which clusters get the entry
//   leaf     keyed digest of an entry, from which the tree is built (log/leaf.ts)
//   change   one committed transaction: the record that the log keeps of it. Changes are numbered by their index
//   chain    hash that links a change to all changes before it in one history
//   history  the line of changes that began with a new or restored store, or a promotion; its id begins the chain
//   epoch    counter that only grows: each history begins with a higher one, so changes of two can be told apart
//   origin   where an applied change stood in the log of the cluster that it came from
//
// A follower that stands at index i asks `changesSince(i)` and applies what it gets, in order. It starts over from a
// `snapshot` in two cases: the log no longer reaches back to i, or the chain does not continue its own. It then goes on
// from the position of that snapshot. `roots` tells whether two stores are equal, and `tree` in which buckets of keys
// they differ (docs/decisions/0015-log-and-tree.md).
//
// Verbs that reach the device return promises, since a storage may be slow or far away. Others may commit between two
// of them; `transaction` is for what must not be interrupted (docs/decisions/0003-optimistic-transactions.md).
//
// Values that a verb returns are copies and belong to the caller. All other buffers (leaves, chains, ids, digests, and
// changes that listeners get) may be shared: nothing may alter them.
import type { History, LogHold, NewHistory, Origin, Position, RetainedLog } from './peer-log.ts'

/** Where a written key belongs. Replication selects and filters by it: paths filters name mounts. */
export type Scope = {
  /** First segment of the key. */
  readonly namespace: string
  /** UUID of a mount, or SYSTEM_SCOPE for what belongs to the cluster itself. */
  readonly mount: string
  /** True for a mount created with `local`: its data go to disaster-recovery secondaries and no further. */
  readonly local: boolean
}
/** Stands in `Scope.mount` for entries of the cluster itself. No UUID reads like it. */
export const SYSTEM_SCOPE = 'system'
/** The only namespace today (docs/architecture.md). It stands in keys, so that others can be added. */
export const ROOT_NAMESPACE = 'root'
/** Scope of every entry that belongs to no mount. */
export const systemScope: Scope = { namespace: ROOT_NAMESPACE, mount: SYSTEM_SCOPE, local: false }

/**
 * Which clusters get an entry. `replicated`: every secondary. `local`: disaster-recovery secondaries only. `ignored`:
 * none; it describes this cluster alone. classes.ts derives the class from the key and its scope.
 */
export type StorageClass = 'replicated' | 'local' | 'ignored'

/**
 * A key and its stored bytes. They are ciphertext (barrier.ts), but for `core/seal-config`, which is read while sealed.
 */
export type Entry = { readonly key: string; readonly value: Buffer }

/** Says which classes may be written. It must not throw, and answers from memory: each written entry asks. */
export type MayWrite = (storageClass: StorageClass, key: string) => boolean

/** One page of a `list`. */
export type ListOptions = {
  /** Only names that sort after this one, which need not exist. */
  readonly after?: string
  /** At most this many names; all of them if absent. */
  readonly limit?: number
}

/**
 * Reads entries as they were last committed. Keys sort by their UTF-8 bytes (key-order.ts). After `close` every verb
 * throws StorageClosed.
 * @throws StorageRefused for a text that is not well-formed, a prefix without its '/', or a limit that is no count
 * @throws StorageCorrupt if the stored bytes cannot be what was written
 */
export interface Reader {
  /** A copy of the stored bytes; undefined if there is no such entry. */
  get(key: string): Promise<Buffer | undefined>
  /**
   * Names of the direct children of `prefix`, sorted; a name ends in '/' if it has children of its own. `prefix` is
   * empty or ends in '/'. An unknown prefix has no children.
   */
  list(prefix: string, options?: ListOptions): Promise<string[]>
  /** Entries of the whole subtree in key order, after the key `after` ('' for the beginning), at most `limit`. */
  scan(prefix: string, after: string, limit: number): Promise<Entry[]>
}

/** Given to the work of a transaction. Its reads see its own writes; other readers see them after the commit. */
export interface Transaction extends Reader {
  /**
   * Sets an entry, new or not. `value` is copied at once.
   * @throws StorageRefused for a key that no class covers, or that is not of the given scope (classes.ts)
   * @throws StorageTooLarge above MAX_VALUE_BYTES or MAX_TRANSACTION_BYTES
   */
  put(scope: Scope, key: string, value: Buffer): void
  /** Removes an entry. Deleting a missing one succeeds and is no change. @throws StorageRefused as `put` does */
  delete(scope: Scope, key: string): void
}

/** An entry without its key and value. The leaf is empty for class `ignored`. */
export type EntryHead = { readonly class: StorageClass; readonly leaf: Buffer }

/** An entry with all that is stored with it: enough to store it elsewhere as it is. */
export type StoredEntry = Entry & EntryHead

/**
 * A view that stays as it was, whatever is committed meanwhile: for verification, backups and copies of a store. Close
 * it soon: the storage must keep the old state for it. Closing the store closes its snapshots.
 */
export interface Snapshot extends Reader {
  /** Index of the last change that the view contains; the same as `position.index`. */
  readonly index: number
  readonly position: Position
  /** As `ReadStore.histories`, of the same moment. */
  readonly histories: readonly History[]
  /** Number of entries of all classes. */
  count(): Promise<number>
  /**
   * Entries of all classes after the key `after`, in key order. The run ends with the entry that brings it to `bytes`,
   * so it is empty only at the end.
   */
  stored(after: string, bytes: number): Promise<StoredEntry[]>
  /** Leaves of the entries after the key `after`, in key order, at most `limit`. Ignored entries have none. */
  leaves(after: string, limit: number): Promise<KeyLeaf[]>
  /** Class and leaf of each key, in order; undefined for a key that is not there. */
  heads(keys: readonly string[]): Promise<(EntryHead | undefined)[]>
  /**
   * Keys that have, or had, an entry in a bucket of one of these numbers, in any order. It looks at so many rows behind
   * `after`, which is 0 at first and then `next`; undefined: that was all.
   */
  bucketKeys(buckets: readonly number[], after: number): Promise<BucketKeys>
  /** Gives the view up. A second call does nothing; every other verb then throws StorageClosed. */
  close(): Promise<void>
}

/** A key, and the number of its bucket among the 65,536 of its scope. */
export type BucketRow = { readonly key: string; readonly bucket: number }

/** A part of the keys in some buckets. */
export type BucketKeys = { readonly keys: readonly string[]; readonly next: number | undefined }

/** What a change did to one entry. A change has at most one operation for a key. */
export type ChangeOperation = {
  readonly kind: 'put' | 'delete'
  readonly class: StorageClass
  readonly scope: Scope
  readonly key: string
  /** Leaf before the change, 16 bytes. Empty where there was no entry, and in class `ignored`. */
  readonly oldLeaf: Buffer
  /** Leaf after the change, 16 bytes. Empty for a delete, and in class `ignored`. */
  readonly newLeaf: Buffer
  /** The stored bytes; empty for a delete. */
  readonly value: Buffer
}

/** One committed transaction, as the log records it: operations of all classes, at least one. */
export type Change = {
  /** One more than that of the change before. The first change of a history stands far above all indexes in use. */
  readonly index: number
  readonly epoch: number
  /** The id of the history that begins with this change; undefined for any other, and for the first of format 1. */
  readonly beginsHistory: Buffer | undefined
  /** At most one of a family; empty for what this cluster wrote itself. */
  readonly origins: readonly Origin[]
  /** The writer's wall clock. Nothing is ordered or decided by it; it is for the check of the clock (src/hardening). */
  readonly committedAtMs: number
  /** First 16 bytes of SHA-256(chain of the change before ‖ body of this record) (log/change-record.ts). */
  readonly chain: Buffer
  readonly operations: readonly ChangeOperation[]
}

/** A record of the log as it is stored, not yet checked (log/change-record.ts). */
export type LogRecord = { readonly index: number; readonly record: Buffer }

/** Classes whose entries are in the tree: those that leave the cluster. */
export type TreeClass = Exclude<StorageClass, 'ignored'>
/**
 * A page of the tree. `scope` is `NAMESPACE/MOUNT-UUID`, `NAMESPACE/system`, or `root/namespace/PARENT/NAME` for the
 * entry of a namespace; `page` is 0 to 255.
 */
export type PageAddress = { readonly class: TreeClass; readonly scope: string; readonly page: number }
/** A bucket of a page. `place` is 0 to 255. */
export type TreeBucket = PageAddress & { readonly place: number }
/** One entry as the tree sees it. */
export type KeyLeaf = { readonly key: string; readonly class: TreeClass; readonly leaf: Buffer }
/** A page with its digests, as log/tree.ts draws them. No digests: every bucket of the page is empty. */
export type TreePage = PageAddress & { readonly digests: Buffer }

/** SHA-256 roots of the tree. Two stores with the same entries under the same leaf key have the same roots. */
export type TreeRoots = {
  /** Over the `replicated` entries: equal on every secondary that filters nothing. */
  readonly replicated: Buffer
  /** Over the `local` entries. */
  readonly local: Buffer
  /** Over both classes: equal on a disaster-recovery secondary. */
  readonly all: Buffer
}

/** A copy of the tree over the entries of a store (log/tree.ts). Later commits do not change it. */
export interface TreeCopy {
  roots(): TreeRoots
  /** Copies of all pages that hold something. */
  pages(): readonly TreePage[]
}

/** What a thread that serves reads needs: no verb of it writes. */
export interface ReadStore extends Reader {
  /** Index of the last committed change; 0 in a new store. It only grows, through a restore too. */
  lastIndex(): Promise<number>
  /** Where the store stands now. It costs the reading of one row, unlike the opening of a snapshot. */
  position(): Promise<Position>
  /** The histories of this store, oldest first; the last one is the present. */
  histories(): Promise<readonly History[]>
  /**
   * Changes after `index`, in order and without a gap. Their indexes jump at the first change of a history. The run may
   * stop before `limit`; it is empty only if `index` is the last index or `limit` is 0. Links inside the run are
   * checked. Whether its first change continues the chain that the caller knows is for the caller to check. Operations
   * of class `ignored` are included: they stay on this cluster.
   * @throws HistoryGone if the log no longer reaches back to `index`, or has not reached it yet: the reader starts anew
   * @throws StorageCorrupt for a record that is damaged or does not continue the one before
   */
  changesSince(index: number, limit: number): Promise<Change[]>
  /**
   * The records that `changesSince` would decode, as they are stored: to pass them on. Nothing of them is checked;
   * `decodeRun` does that (log/change-record.ts).
   * @throws HistoryGone as `changesSince` does
   */
  records(index: number, limit: number): Promise<LogRecord[]>
  /** A view of the state now. The caller closes it. */
  snapshot(): Promise<Snapshot>
  /**
   * Waits for what is being committed, then closes. Every later verb throws StorageClosed; a second close waits for the
   * first.
   */
  close(): Promise<void>
}

/** A change of a peer, as it is applied here: without operations of class `ignored`, which no peer sends. */
export type AdoptedChange = {
  /** Where it stands in the peer's log, and in the log that the peer had it from. */
  readonly origins: readonly Origin[]
  readonly committedAtMs: number
  /** May be empty, where nothing of the change is for this cluster: then only the origin moves on. */
  readonly operations: readonly ChangeOperation[]
}

/** How the changes of a peer are applied. */
export type AdoptOptions = {
  /**
   * `follow`: each operation must replace what it replaced at the peer. `redo`: a copy or a comparison is running, and
   * the entries here may be older or newer than the changes. So what is replaced is not compared, and what is missing
   * may be deleted. `anew`: one begins, so that what lies between the last applied place and these changes is not asked
   * for; else as `redo`.
   */
  readonly mode: 'follow' | 'redo' | 'anew'
  /** The changes are all that the peer has for this cluster behind this place of its log. */
  readonly after: Pick<Origin, 'family' | 'historyId' | 'index'>
  /** Where the peer's log stands behind the changes, if further on than the last. Nothing in between is for us. */
  readonly at?: Origin
  /**
   * What the peer has at `at`, where the changes lead to: entries, and keys that have none there. In one change, behind
   * the others. Only while a copy or a comparison is running.
   */
  readonly state?: { readonly entries: readonly StoredEntry[]; readonly gone: readonly string[] }
  /** Runs when the changes are known to be good, before any of them can be seen. It may reject: none is applied. */
  readonly prepare?: (changes: readonly AdoptedChange[]) => Promise<void>
  /**
   * Runs after `prepare`, and writes in the same durable step what is this cluster's own: entries of class `ignored`,
   * and `local` ones that the changes make necessary. Data keys that a peer's keyring replaces are such: once it is
   * stored without them, nothing opens what they sealed. It reads the store without the changes.
   */
  readonly also?: (tx: Transaction) => Promise<void>
}

/**
 * What became of the changes of a peer. Whatever a peer sends leads to one of these. Only with `adopted` is anything
 * written.
 */
export type Adopted =
  /** `index` is the last one of this store. What was applied before was left out. */
  | { readonly kind: 'adopted'; readonly index: number }
  /** The entry here is not the one that the change replaced, or the change is not what a peer may send. */
  | { readonly kind: 'diverged'; readonly key: string; readonly sentence: string }
  /** Only a newer program knows what stands there. */
  | { readonly kind: 'unknown'; readonly key: string; readonly sentence: string }
  /** The changes do not follow what was applied last. */
  | { readonly kind: 'gap'; readonly sentence: string }

/** What a store is at one moment between two commits: its tree, and a view of the entries that the tree is of. */
export type StoreImage = {
  readonly index: number
  readonly tree: TreeCopy
  readonly snapshot: Snapshot
  /**
   * Keys and leaves of the entries in these buckets, in key order. It works in steps between which others run; values
   * are not read (docs/decisions/0020-log-of-peers.md has what that costs).
   */
  keysIn(buckets: readonly TreeBucket[]): Promise<KeyLeaf[]>
}

/** Some keys: how many there are, and the first of them by name. */
export type NamedKeys = { readonly count: number; readonly named: readonly string[] }

/** A page in which the tree is not that of the entries. */
export type WrongPage = {
  readonly page: number
  /** The hash that is kept of the page is not that of its buckets. */
  readonly isHashWrong: boolean
  /** Places of buckets that are wrong, in order. */
  readonly places: readonly number[]
}

/** What a check found in the tree of one class. Pages of all its scopes are taken together, by their numbers. */
export type CheckedClass = {
  /** The root of the tree that is kept. */
  readonly root: Buffer
  /** The hash that is kept of a scope is not that of its pages. */
  readonly isRootWrong: boolean
  /** In the order of their numbers. */
  readonly wrongPages: readonly WrongPage[]
}

/** What a check of the tree against the entries found. */
export type TreeReport = {
  readonly index: number
  readonly entries: number
  readonly classes: Readonly<Record<TreeClass, CheckedClass>>
  /** Entries whose stored bytes do not have the leaf that is stored with them. */
  readonly wrongEntries: NamedKeys
}

/** How far a check or a reindex is. */
export type ScrubProgress = {
  /** `flushing`: the tree is made, and is being stored. */
  readonly stage: 'building' | 'flushing'
  readonly done: number
  /** Entries there were at the beginning: commits go on meanwhile. */
  readonly total: number
}

/** How the tree is made anew. */
export type ReindexOptions = {
  /**
   * `leaves`: buckets are compared with the leaves that are stored, and those that are wrong are made anew. `values`:
   * first each leaf is compared with its stored bytes, and made anew. `whole`: as `values`, and nothing of the tree of
   * before is kept.
   */
  readonly mode: 'leaves' | 'values' | 'whole'
  /** The new tree counts at once and is stored later: a crash before that brings the old one back. */
  readonly skipFlush: boolean
  /** Asked of each entry whose bytes do not have its leaf: does it get a new one? Else it stays, and is reported. */
  readonly mayRepair: (entry: StoredEntry) => boolean
  readonly onProgress?: (progress: ScrubProgress) => void
}

/** What a reindex did. */
export type Reindexed = {
  readonly index: number
  readonly entries: number
  /** Buckets that were wrong. */
  readonly buckets: number
  /** Entries that got a new leaf, and those that were to keep one that is not that of their bytes. */
  readonly repaired: NamedKeys
  readonly left: NamedKeys
}

/** What a commit tells: what its work returned, and the index of its change; undefined if nothing was changed. */
export type Committed<T> = { readonly result: T; readonly index: number | undefined }

/** The store in the one thread that may write it (docs/decisions/0014-one-writer.md). */
export interface Store extends ReadStore {
  /**
   * Runs `work` and commits what it wrote, with its log record, in one durable step: all of it or nothing (threats
   * P-01, P-06). What `work` read is still so at commit. A transaction that wrote nothing leaves no record.
   *
   * `work` may run several times, so it must have no effect but on `tx` and its result. While it runs it may see parts
   * of two states: then it runs again, and what it threw is dropped. After a few lost races it runs alone, so it always
   * ends. It must not start a transaction: that would wait for itself, and is refused by an assertion.
   *
   * An entry keeps its class as long as it exists: a write of another class is refused.
   * @throws what `work` throws, on one consistent state: nothing is written then
   * @throws StorageRefused, Sealed, StorageTooLarge or WriteNotAllowed where the writes are not allowed
   * @throws StorageFull if nothing was written for lack of space
   * @throws StorageFailed if it is not known what was written, and for every write after that; reads go on
   * @throws StorageConflict never today: it is for a storage that other nodes write too
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** `transaction`, and tells the index of the change as well: who waits for it elsewhere needs to know it. */
  commit<T>(work: (tx: Transaction) => Promise<T>): Promise<Committed<T>>
  /**
   * Applies changes of a peer, in order: each becomes a change of this store, with an index of its own and its origins,
   * all in one durable step together with the position. They are published as any commit is. Leaves are checked under
   * the leaf key of this store, so both must have the same. The gate of a role binds neither them nor `also`.
   * @throws Sealed without the leaf key, StorageFull and StorageFailed as a transaction does, and what `prepare` and
   *   `also` throw; nothing is written then
   */
  adopt(changes: readonly AdoptedChange[], options: AdoptOptions): Promise<Adopted>
  /** `position` from memory, behind the last durable change. @throws StorageClosed when the store is closed */
  positionNow(): Position
  /**
   * Waits until a change after `index` is durable and all listeners have heard of it; resolves with the last such
   * index, at once if there is one. Other threads wait on a counter (threads/committed-index.ts).
   * @throws StorageClosed when the store closes, also for a restore, and StorageFailed when it writes no more
   */
  committedAfter(index: number): Promise<number>
  /**
   * As `transaction`, but what `work` writes is the first change of a new history: its index is the next multiple of
   * 2^20 above all that are known, its epoch is higher than all, and its parent is where the log stood. For promotion.
   * The gate of a role does not bind it: it is how the role changes.
   * @throws as `transaction` does; StorageRefused if nothing is written, or where numbers end
   */
  beginHistory<T>(work: (tx: Transaction) => Promise<T>, next: NewHistory): Promise<T>
  /**
   * Calls `listener` for each change once it is durable, in order, before the caller of its transaction goes on: so no
   * answer overtakes the caches. A listener must not throw. A cache that missed a change cannot be trusted, so the
   * store then writes no more, as after StorageFailed.
   */
  onCommit(listener: (change: Change) => void): void
  /**
   * Sets the key of the leaves, 32 bytes; undefined at seal. The key is copied: the caller wipes its own. Without it
   * writes of class `replicated` and `local` throw Sealed: a store never holds such an entry without its leaf.
   */
  setLeafKey(key: Buffer | undefined): void
  /**
   * Says which entries may be written from now on, by class and key; a new store allows all. A transaction that puts or
   * deletes another entry throws WriteNotAllowed, and nothing of it is written. Resolves when every commit that was
   * allowed before has ended, so that no forbidden write follows. What is applied from a peer is not bound by it.
   */
  setWritable(mayWrite: MayWrite): Promise<void>
  /**
   * Tells that data keys are replaced: what was sealed so far may never be read again. A transaction that runs now and
   * writes is not committed: it runs `again`, so that it seals anew, or throws Sealed (`refused`). Resolves when every
   * commit has ended that was under way.
   */
  keysReplaced(running: 'again' | 'refused'): Promise<void>
  /**
   * Roots of the tree over all `replicated` and `local` entries, as of `index`. Waits while the tree is being read
   * after `setLeafKey`. With `isWanted` they are those of a store that has only the entries of these scopes. Their
   * names are as in `PageAddress`.
   * @throws StorageRefused while there is no leaf key, and what kept the tree from being read
   */
  roots(isWanted?: (scope: string) => boolean): Promise<TreeRoots & { readonly index: number }>
  /** The scopes that have `replicated` entries, by their names. Waits and throws as `roots` does. */
  scopes(): Promise<readonly string[]>
  /** As `roots`, but undefined where that would wait or throw: for status, which must answer at once. */
  rootsNow(): Promise<(TreeRoots & { readonly index: number }) | undefined>
  /** A copy of the tree as of `index`, to find where two stores differ. Waits and throws as `roots` does. */
  tree(): Promise<{ readonly index: number; readonly tree: TreeCopy }>
  /** Tree and view of one index. The caller closes the snapshot. Waits and throws as `roots` does. */
  image(): Promise<StoreImage>
  /**
   * Compares the tree with all entries, and each leaf with its stored bytes. It changes nothing, and works in short
   * steps between which others commit: what it reports is as of the end.
   * @throws StorageRefused while another check or a reindex runs, without a leaf key, or when that is taken away
   */
  checkTree(onProgress?: (progress: ScrubProgress) => void): Promise<TreeReport>
  /**
   * Makes the tree anew, as `checkTree` works. Only what is derived from the entries is changed: no change is made, and
   * after a crash the tree is that of before, or that of the stored leaves.
   * @throws as `checkTree` does, and StorageFull if the new tree could not be stored: it counts until a crash
   */
  reindex(options: ReindexOptions): Promise<Reindexed>
  /**
   * Keeps the records after `from` for the named follower, up to a cap that wins. The same name again moves its hold
   * on, or back where the records are still there. A new hold is durable when this resolves, and survives a restart.
   * One that moves on is stored later: a crash may take it back to where it stood.
   * @throws HistoryGone if these records are gone already, StorageRefused if the log does not reach `from` yet
   */
  hold(hold: LogHold): Promise<void>
  /** Gives up the hold of this name, durably; without one it does nothing. */
  release(name: string): Promise<void>
  /** How much of the log is kept, and for whom. */
  retained(): Promise<RetainedLog>
  /**
   * Forgets the records up to and including `upTo`, whoever holds them, and all that was deleted before: when this
   * resolves no file of the store has anything of it. It works in short steps between which others commit, and waits
   * for snapshots that keep an old state. Once it is noted it ends after a crash or a close too, without being called.
   * @throws StorageRefused for an index that is none of the log, or while there is no leaf key; StorageClosed, and
   *   StorageFailed as a transaction does
   */
  purge(upTo: number): Promise<void>
}

/** Longest key in UTF-8 bytes, enforced above every driver (threats D-02). Log records hold it in 16 bits. */
export const MAX_KEY_BYTES = 1024
/** Largest stored value, 64 MiB with the barrier's overhead (threats D-02). */
export const MAX_VALUE_BYTES = 64 * 1024 * 1024
/** Sum of the keys and values that one transaction writes, 128 MiB. Its log record is one row of the database. */
export const MAX_TRANSACTION_BYTES = 128 * 1024 * 1024
