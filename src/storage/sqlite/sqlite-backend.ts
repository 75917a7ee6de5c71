// Entries and log in one SQLite file (docs/decisions/0002-embedded-storage.md). Reads and appends share a connection.
// An append begins and ends within one synchronous call, so no read ever sees half of one.
import { strict as assert } from 'node:assert'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Backend, BucketStep, Checkpoint, EraseStep, SavedTree, TreeSave } from '../backend.ts'
import type { ChangeOperation, EntryHead, KeyLeaf, StoredEntry } from '../contract.ts'
import { StorageCorrupt, StorageError, StorageFailed, StorageRefused } from '../errors.ts'
import { type EncodedChange, NO_ORIGINS } from '../log/change-record.ts'
import { CLASS_NUMBERS } from '../log/leaf.ts'
import { moveOf } from '../log/move.ts'
import type { LogHold, Origin } from '../peer-log.ts'
import { SqliteDerived } from './sqlite-derived.ts'
import { Eraser } from './sqlite-eraser.ts'
import { isFull, writeError } from './sqlite-errors.ts'
import type { DirectoryLock } from './sqlite-files.ts'
import { dropKept, type StoreRun } from './sqlite-migration.ts'
import { PositionMover } from './sqlite-position.ts'
import { SqliteReadBackend } from './sqlite-reader.ts'
import { openReadOnly, reading, SqliteView } from './sqlite-view.ts'

/** Pages of 4 KiB that commits may leave in the journal before they are moved into the database. */
const CHECKPOINT_PAGES = 1_000
const PAGE_BYTES = 4_096
/** Rows of keys of usual length that a page holds. */
const BUCKETS_PER_PAGE = 50
const NO_BUCKETS: BucketStep = { rows: [], swept: 0 }
/** An append writes at least a page of each of the three tables. */
const PAGES_PER_APPEND = 3

/**
 * The backend of the thread that writes. After a write that failed, and not because the device is full, it reads on
 * through a new connection that cannot write (threats P-02, P-03).
 */
export class SqliteBackend extends SqliteReadBackend implements Backend {
  readonly #lock: DirectoryLock | undefined
  readonly #run: StoreRun | undefined
  readonly #putEntry: StatementSync
  readonly #deleteEntry: StatementSync
  readonly #setLeaf: StatementSync
  readonly #addRecord: StatementSync
  readonly #mover: PositionMover
  readonly #derived: SqliteDerived
  /** Set while a pass is under way. */
  #eraser: Eraser | undefined
  #pagesInJournal = 0
  #hasFailed = false

  /** `connection` may write; `lock` is released with it. Without `run` the store was not migrated. */
  constructor(path: string, connection: DatabaseSync, lock?: DirectoryLock, run?: StoreRun) {
    super(path, connection)
    this.#run = run
    this.#lock = lock
    this.#putEntry = connection.prepare(
      `INSERT INTO data (key, class, leaf, value) VALUES (?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET class = excluded.class, leaf = excluded.leaf, value = excluded.value`,
    )
    this.#deleteEntry = connection.prepare('DELETE FROM data WHERE key = ?')
    this.#setLeaf = connection.prepare('UPDATE data SET leaf = ? WHERE key = ?')
    this.#addRecord = connection.prepare('INSERT INTO log (idx, record) VALUES (?, ?)')
    this.#derived = new SqliteDerived(connection)
    this.#mover = new PositionMover(connection)
  }

  async heads(keys: readonly string[]): Promise<(EntryHead | undefined)[]> {
    return reading(() => keys.map((key) => this.view.head(key)))
  }

  async append(
    changes: readonly EncodedChange[],
    origins: readonly Origin[] = NO_ORIGINS,
    buckets: BucketStep = NO_BUCKETS,
  ): Promise<void> {
    this.#durably(() => {
      this.#moveOver(changes)
      for (const change of changes) this.#apply(change)
      if (origins.length > 0) this.#mover.moveOrigins(origins)
      return pagesOf(changes) + this.#addBuckets(buckets)
    })
  }

  async leaves(after: string, limit: number): Promise<KeyLeaf[]> {
    return reading(() => this.view.leaves(after, limit))
  }

  async stored(after: string, bytes: number): Promise<StoredEntry[]> {
    return reading(() => this.view.stored(after, bytes))
  }

  async countKeys(after: string, limit: number): ReturnType<Backend['countKeys']> {
    return reading(() => this.view.countKeys(after, limit))
  }

  async setLeaves(leaves: readonly Pick<KeyLeaf, 'key' | 'leaf'>[]): Promise<void> {
    this.#durably(() => {
      for (const { key, leaf } of leaves) this.#setLeaf.run(leaf, key)
      return leaves.length
    })
  }

  async savedTree(): Promise<SavedTree | undefined> {
    return reading(() => this.#derived.savedTree())
  }

  async saveTree(save: TreeSave): Promise<Checkpoint> {
    let checkpoint: Checkpoint | undefined
    this.#durably(() => {
      checkpoint = this.#derived.saveTree(save)
      return save.pages.length
    })
    return checkpoint ?? assert.fail('it was saved')
  }

  async clearBuckets(): Promise<void> {
    this.#durably(() => {
      this.#derived.clearBuckets()
      return 1
    })
  }

  async addBuckets(step: BucketStep): Promise<void> {
    this.#durably(() => this.#addBuckets(step))
  }

  #addBuckets({ rows, swept }: BucketStep): number {
    this.#derived.addBuckets(rows, swept)
    return Math.ceil((rows.length + swept) / BUCKETS_PER_PAGE)
  }

  async checkpoints(): Promise<Checkpoint[]> {
    return reading(() => this.#derived.checkpoints())
  }

  async firstIndex(): Promise<number> {
    return reading(() => this.view.firstIndex())
  }

  async indexBefore(count: number): Promise<number> {
    return reading(() => this.#derived.indexBefore(count))
  }

  async logBytesBetween(after: number, upTo: number): Promise<number> {
    return reading(() => this.#derived.logBytesBetween(after, upTo))
  }

  async holds(): Promise<LogHold[]> {
    return reading(() => this.#derived.holds())
  }

  async saveHolds(holds: readonly LogHold[]): Promise<void> {
    this.#durably(() => {
      this.#derived.saveHolds(holds)
      return holds.length
    })
  }

  async forgetRecords(index: number, limit: number): Promise<void> {
    this.#durably(() => {
      this.#derived.forgetRecords(this.view.firstIndex(), index, limit)
      return limit
    })
  }

  async dropGoneBuckets(after: number, limit: number): Promise<number | undefined> {
    let last: number | undefined
    this.#durably(() => {
      last = this.#derived.dropGoneBuckets(after, limit)
      return Math.ceil(limit / BUCKETS_PER_PAGE)
    })
    return last
  }

  async erase(): Promise<EraseStep> {
    try {
      this.#eraser ??= new Eraser(this.path)
      const step = this.#eraser.step(this.connection)
      if (step === 'done') this.#eraser = undefined
      return step
    } catch (cause) {
      throw cause instanceof StorageRefused ? cause : this.#undo(cause)
    }
  }

  async flushErased(): Promise<void> {
    try {
      await this.#eraser?.flush()
    } catch (cause) {
      throw this.#undo(cause)
    }
  }

  /**
   * Runs `work` in one transaction that is flushed before this returns. `work` returns about how many pages it wrote.
   * @throws StorageFull, or another StorageError after which only reads work
   */
  #durably(work: () => number): void {
    try {
      this.connection.exec('BEGIN IMMEDIATE')
      const pages = work()
      this.connection.exec('COMMIT')
      this.#checkpointWhenDue(pages)
    } catch (cause) {
      throw this.#undo(cause)
    }
  }

  override async close(): Promise<void> {
    try {
      await super.close()
      // The operator has seen the run that migrated, and started another.
      if (!this.#hasFailed && this.#run?.hasMigrated !== true) dropKept(this.path)
    } finally {
      this.#lock?.release()
    }
  }

  #apply({ change, record, history }: EncodedChange): void {
    for (const operation of change.operations) this.#applyOperation(operation)
    this.#addRecord.run(change.index, record)
    if (history !== undefined) this.#mover.begin(history)
  }

  /** Moves `meta` on over all changes. @throws StorageFailed if they do not follow the stored index without a gap */
  #moveOver(changes: readonly EncodedChange[]): void {
    if (changes.length === 0) return
    const move = moveOf(changes)
    if (move === undefined) throw new StorageFailed('The changes to be written do not follow each other')
    if (!this.#mover.move(move)) {
      throw new StorageFailed(`The store is not at index ${move.from}: another wrote to it`)
    }
  }

  #applyOperation({ kind, class: storageClass, key, newLeaf, value }: ChangeOperation): void {
    if (kind === 'put') {
      this.#putEntry.run(key, CLASS_NUMBERS[storageClass], newLeaf, value)
    } else if (this.#deleteEntry.run(key).changes !== 1) {
      throw new StorageCorrupt(`The entry ${key} was there and could not be deleted`)
    }
  }

  /** Done here since SQLite's automatic checkpoint ignores a failing device. */
  #checkpointWhenDue(pages: number): void {
    this.#pagesInJournal += PAGES_PER_APPEND + pages
    if (this.#pagesInJournal >= CHECKPOINT_PAGES) this.#checkpoint()
  }

  /** Moves pages from the journal into the database. A full device does no harm: the journal keeps the rest. */
  #checkpoint(): void {
    this.#pagesInJournal = 0
    try {
      this.#eraser?.noteJournal()
      this.connection.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch (error) {
      if (!isFull(error)) throw error
    }
  }

  /** Rolls a failed write back and returns the error to throw. */
  #undo(cause: unknown): StorageError {
    let error = cause instanceof StorageError ? cause : writeError(cause)
    try {
      if (this.connection.isTransaction) this.connection.exec('ROLLBACK')
      if (isFull(cause)) {
        // Makes room in the journal for the next commit.
        this.#checkpoint()
        return error
      }
    } catch (second) {
      // More is wrong than a full device, and the connection cannot be trusted.
      if (isFull(cause)) error = new StorageFailed('After a full device the store cannot go on', { cause: second })
    }
    this.#readOn()
    return error
  }

  /** Moves reads to a new connection, which had no part in the failed write and cannot write. */
  #readOn(): void {
    this.#hasFailed = true
    const failed = this.connection
    try {
      this.connection = openReadOnly(this.path)
      this.view = new SqliteView(this.connection)
    } catch {
      // Reads fail from here on. That is better than showing what was not committed.
    } finally {
      failed.close()
    }
  }
}

/** An estimate: one page for each entry, and each record once as values and once in the log. */
function pagesOf(changes: readonly EncodedChange[]): number {
  let pages = 0
  for (const { change, record } of changes) {
    pages += change.operations.length + Math.ceil((2 * record.length) / PAGE_BYTES)
  }
  return pages
}
