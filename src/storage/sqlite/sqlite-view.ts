// Reads through one connection to the database file. SQLite answers synchronously; the contract adds the promises.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type BackendSnapshot, MAX_RUN_BYTES } from '../backend.ts'
import { childNames } from '../child-names.ts'
import type { BucketKeys, Entry, EntryHead, KeyLeaf, LogRecord, StoredEntry } from '../contract.ts'
import { StorageCorrupt } from '../errors.ts'
import { justAfter, laterKey, prefixEnd } from '../key-order.ts'
import { isGone } from '../log/histories.ts'
import { CLASS_NUMBERS, classOfNumber } from '../log/leaf.ts'
import type { History, Position } from '../peer-log.ts'
import { bytesOf, numberOf, textOf } from './sqlite-columns.ts'
import { BUSY_TIMEOUT_MS } from './sqlite-connection.ts'
import { readError } from './sqlite-errors.ts'
import { preparePosition, readHistories, readPosition } from './sqlite-position.ts'

/** SQLite's own "no limit". */
const NO_LIMIT = -1
/** Rows of buckets that are looked at in one step: some ten milliseconds. */
const BUCKET_ROWS_PER_STEP = 20_000
/** The end of all keys: in SQLite any BLOB sorts after every TEXT. */
const AFTER_ALL_KEYS = Buffer.alloc(0)

/** A connection that cannot write, and does not trust the file: a damaged one must fail and not mislead. */
export function openReadOnly(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  database.exec('PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF')
  return database
}

/**
 * The reading statements of one connection, prepared once. Verbs are those of `BackendView` and `BackendSnapshot`, and
 * throw SQLite's errors: `reading` translates them.
 */
export class SqliteView {
  readonly #database: DatabaseSync
  readonly #position: StatementSync
  readonly #value: StatementSync
  readonly #head: StatementSync
  readonly #keys: StatementSync
  readonly #entries: StatementSync
  readonly #nextRecord: StatementSync
  readonly #firstIndex: StatementSync
  #leaves: StatementSync | undefined
  #next: StatementSync | undefined
  #countKeys: StatementSync | undefined

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#position = preparePosition(database)
    this.#value = database.prepare('SELECT value FROM data WHERE key = ?')
    this.#head = database.prepare('SELECT class, leaf FROM data WHERE key = ?')
    this.#keys = database.prepare('SELECT key FROM data WHERE key >= ? AND key < ? ORDER BY key LIMIT ?')
    this.#entries = database.prepare('SELECT key, value FROM data WHERE key >= ? AND key < ? ORDER BY key LIMIT ?')
    this.#nextRecord = database.prepare('SELECT idx, record FROM log WHERE idx > ? ORDER BY idx LIMIT 1')
    this.#firstIndex = database.prepare('SELECT min(idx) AS idx FROM log')
  }

  get(key: string): Buffer | undefined {
    const row = this.#value.get(key)
    return row && bytesOf(row.value)
  }

  head(key: string): EntryHead | undefined {
    const row = this.#head.get(key)
    if (row === undefined) return undefined
    const storageClass = classOfNumber(numberOf(row.class))
    if (storageClass === undefined) throw new StorageCorrupt(`The entry ${key} has no known class`)
    return { class: storageClass, leaf: bytesOf(row.leaf) }
  }

  list(prefix: string, after: string, limit: number): string[] {
    const end = prefixEnd(prefix) ?? AFTER_ALL_KEYS
    return childNames(
      (from, count) => this.#keys.all(from, end, count).map(({ key }) => textOf(key)),
      prefix,
      after,
      limit,
    )
  }

  scan(prefix: string, after: string, limit: number): Entry[] {
    const end = prefixEnd(prefix) ?? AFTER_ALL_KEYS
    const rows = this.#entries.all(laterKey(prefix, justAfter(after)), end, Number.isFinite(limit) ? limit : NO_LIMIT)
    return rows.map(({ key, value }) => ({ key: textOf(key), value: bytesOf(value) }))
  }

  leaves(after: string, limit: number): KeyLeaf[] {
    this.#leaves ??= this.#database.prepare(
      `SELECT key, class, leaf FROM data WHERE key > ? AND class <> ${CLASS_NUMBERS.ignored} ORDER BY key LIMIT ?`,
    )
    return this.#leaves.all(after, limit).map(({ key, class: number, leaf }) => {
      const storageClass = classOfNumber(numberOf(number))
      if (storageClass === undefined || storageClass === 'ignored') {
        throw new StorageCorrupt(`The entry ${textOf(key)} has no known class`)
      }
      return { key: textOf(key), class: storageClass, leaf: bytesOf(leaf) }
    })
  }

  bucketKeys(buckets: readonly number[], after: number): BucketKeys {
    const last = this.#database
      .prepare('SELECT max(seq) AS seq FROM (SELECT seq FROM bucket WHERE seq > ? ORDER BY seq LIMIT ?)')
      .get(after, BUCKET_ROWS_PER_STEP)?.seq
    if (last === null || last === undefined) return { keys: [], next: undefined }
    const rows = this.#database
      .prepare('SELECT key FROM bucket WHERE seq > ? AND seq <= ? AND number IN (SELECT value FROM json_each(?))')
      .all(after, last, JSON.stringify(buckets))
    return { keys: rows.map(({ key }) => textOf(key)), next: numberOf(last) }
  }

  count(): number {
    return numberOf(this.#database.prepare('SELECT count(*) AS entries FROM data').get()?.entries)
  }

  countKeys(after: string, limit: number): { readonly count: number; readonly last: string } {
    this.#countKeys ??= this.#database.prepare(
      'SELECT count(*) AS keys, max(key) AS last FROM (SELECT key FROM data WHERE key > ? ORDER BY key LIMIT ?)',
    )
    const { keys, last } = this.#countKeys.get(after, limit) ?? {}
    return { count: numberOf(keys), last: last === null ? '' : textOf(last) }
  }

  stored(after: string, bytes: number): StoredEntry[] {
    this.#next ??= this.#database.prepare(
      'SELECT key, class, leaf, value FROM data WHERE key > ? ORDER BY key LIMIT 256',
    )
    const found: StoredEntry[] = []
    let size = 0
    for (let last = after; size < bytes; ) {
      const before = found.length
      for (const row of this.#next.iterate(last)) {
        const entry = storedEntry(row)
        found.push(entry)
        last = entry.key
        size += entry.key.length + entry.value.length
        if (size >= bytes) break
      }
      if (found.length === before) break
    }
    return found
  }

  firstIndex(): number {
    const { idx } = this.#firstIndex.get() ?? {}
    return typeof idx === 'number' ? idx : this.position().index + 1
  }

  position(): Position {
    return readPosition(this.#position)
  }

  histories(): readonly History[] {
    return readHistories(this.#database)
  }

  /** Reads in one transaction: a commit or a shortening of the log in between would leave a gap. */
  records(index: number, limit: number): LogRecord[] | undefined {
    this.#database.exec('BEGIN')
    try {
      const lastIndex = this.position().index
      if (index > lastIndex) return undefined
      const firstIndex = numberOf(this.#firstIndex.get()?.idx ?? lastIndex + 1)
      if (isGone(index, { firstIndex, lastIndex }, () => this.histories())) return undefined
      return this.#run(index, lastIndex, limit)
    } finally {
      this.#database.exec('COMMIT')
    }
  }

  #run(index: number, last: number, limit: number): LogRecord[] {
    const run: LogRecord[] = []
    let bytes = 0
    for (let at = index; at < last && run.length < limit && bytes < MAX_RUN_BYTES; ) {
      const row = this.#nextRecord.get(at)
      if (row === undefined) throw new StorageCorrupt(`The log lacks the record behind ${at}`)
      const record = bytesOf(row.record)
      at = numberOf(row.idx)
      bytes += record.length
      run.push({ index: at, record })
    }
    return run
  }
}

function storedEntry(row: Record<string, unknown>): StoredEntry {
  const key = textOf(row.key)
  const storageClass = classOfNumber(numberOf(row.class))
  if (storageClass === undefined) throw new StorageCorrupt(`The entry ${key} has no known class`)
  return { key, class: storageClass, leaf: bytesOf(row.leaf), value: bytesOf(row.value) }
}

/**
 * Opens a connection with a read transaction, so that later commits do not show. While it is open SQLite cannot move
 * later commits out of the journal, which grows.
 */
export function openSnapshot(path: string): BackendSnapshot {
  const database = openReadOnly(path)
  try {
    database.exec('BEGIN')
    const view = new SqliteView(database)
    const position = view.position()
    return {
      index: position.index,
      position,
      histories: view.histories(),
      count: async () => reading(() => view.count()),
      stored: async (after, bytes) => reading(() => view.stored(after, bytes)),
      get: async (key) => reading(() => view.get(key)),
      list: async (prefix, after, limit) => reading(() => view.list(prefix, after, limit)),
      scan: async (prefix, after, limit) => reading(() => view.scan(prefix, after, limit)),
      leaves: async (after, limit) => reading(() => view.leaves(after, limit)),
      heads: async (keys) => reading(() => keys.map((key) => view.head(key))),
      bucketKeys: async (buckets, after) => reading(() => view.bucketKeys(buckets, after)),
      close: async () => database.close(),
    }
  } catch (error) {
    database.close()
    throw readError('A snapshot cannot be opened', error)
  }
}

/** Runs one read and translates SQLite's errors. @throws StorageCorrupt, StorageError */
export function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw readError('The store cannot be read', error)
  }
}
