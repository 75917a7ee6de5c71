// The tables that are derived from the others: the saved tree, its checkpoints, and the keys of its buckets. The log is
// shortened here too, since that goes by checkpoints; the holds that keep it stand with it. Each verb runs inside a
// transaction of its caller, or only reads.
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Checkpoint, SavedTree, TreeSave } from '../backend.ts'
import type { BucketRow, TreePage } from '../contract.ts'
import { StorageCorrupt } from '../errors.ts'
import { CHAIN_BYTES } from '../log/change-record.ts'
import { CLASS_NUMBERS, classOfNumber } from '../log/leaf.ts'
import type { LogHold } from '../peer-log.ts'
import { bytesOf, numberOf, textOf } from './sqlite-columns.ts'

/** Stands for the version that the first releases did not store: their checkpoints have the chain alone. */
const FIRST_VERSION = 1

/** The statements over the derived tables, on the connection of the writing thread. */
export class SqliteDerived {
  readonly #database: DatabaseSync
  readonly #putPage: StatementSync
  readonly #dropPage: StatementSync
  readonly #bytesBetween: StatementSync
  readonly #addCheckpoint: StatementSync
  readonly #dropRecords: StatementSync
  readonly #noteFirst: StatementSync
  readonly #dropCheckpoints: StatementSync
  readonly #dropLater: StatementSync
  readonly #addBucket: StatementSync
  readonly #oldBuckets: StatementSync
  readonly #dropBuckets: StatementSync
  readonly #hasEntry: StatementSync

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#putPage = database.prepare(
      `INSERT INTO tree (class, scope, page, digests) VALUES (?, ?, ?, ?)
       ON CONFLICT (class, scope, page) DO UPDATE SET digests = excluded.digests`,
    )
    this.#dropPage = database.prepare('DELETE FROM tree WHERE class = ? AND scope = ? AND page = ?')
    this.#bytesBetween = database.prepare(
      `SELECT coalesce(sum(length(record)), 0) AS bytes FROM log
       WHERE idx > (SELECT coalesce(max(idx), 0) FROM checkpoint) AND idx <= ?`,
    )
    this.#addCheckpoint = database.prepare(
      `INSERT INTO checkpoint (idx, chain, log_bytes, saved_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (idx) DO UPDATE SET chain = excluded.chain, saved_at = excluded.saved_at`,
    )
    this.#dropRecords = database.prepare('DELETE FROM log WHERE idx <= ?')
    this.#noteFirst = database.prepare(
      'UPDATE meta SET first_index = coalesce((SELECT min(idx) FROM log), last_index + 1)',
    )
    this.#addBucket = database.prepare('INSERT INTO bucket (number, key) VALUES (?, ?)')
    this.#oldBuckets = database.prepare('SELECT seq, number, key FROM bucket ORDER BY seq LIMIT ?')
    this.#dropBuckets = database.prepare('DELETE FROM bucket WHERE seq <= ?')
    this.#hasEntry = database.prepare('SELECT 1 FROM data WHERE key = ?')
    this.#dropLater = database.prepare('DELETE FROM checkpoint WHERE idx > ?')
    this.#dropCheckpoints = database.prepare(
      'DELETE FROM checkpoint WHERE idx <= ? AND idx < (SELECT max(idx) FROM checkpoint)',
    )
  }

  savedTree(): SavedTree | undefined {
    return readSavedTree(this.#database)
  }

  saveTree({ index, chain, version, pages, isWhole, savedAtMs }: TreeSave): Checkpoint {
    if (isWhole) {
      this.#database.exec('DELETE FROM tree')
      // Later checkpoints are of a log that is not this one. The last checkpoint is that of the saved tree.
      this.#dropLater.run(index)
    }
    for (const { class: storageClass, scope, page, digests } of pages) {
      if (digests.length > 0) this.#putPage.run(CLASS_NUMBERS[storageClass], scope, page, digests)
      else this.#dropPage.run(CLASS_NUMBERS[storageClass], scope, page)
    }
    const logBytes = numberOf(this.#bytesBetween.get(index)?.bytes)
    this.#addCheckpoint.run(index, Buffer.concat([chain, Buffer.of(version)]), logBytes, savedAtMs)
    return { index, logBytes, savedAtMs }
  }

  clearBuckets(): void {
    this.#database.exec('DELETE FROM bucket')
  }

  addBuckets(rows: readonly BucketRow[], swept: number): void {
    const kept = new Map(swept === 0 ? [] : this.#takeOld(swept))
    for (const { key, bucket } of rows) kept.set(key, bucket)
    for (const [key, bucket] of kept) this.#addBucket.run(bucket, key)
  }

  /** Removes the oldest rows, and returns those of keys that have an entry. */
  #takeOld(limit: number): [string, number][] {
    const rows = this.#oldBuckets.all(limit)
    this.#dropBuckets.run(numberOf(rows.at(-1)?.seq ?? 0))
    const all = rows.map(({ number, key }): [string, number] => [textOf(key), numberOf(number)])
    return all.filter(([key]) => this.#hasEntry.get(key) !== undefined)
  }

  /** Among so many rows behind `after`. Returns the last of them; undefined if there was none. */
  dropGoneBuckets(after: number, limit: number): number | undefined {
    const last = this.#database
      .prepare('SELECT max(seq) AS seq FROM (SELECT seq FROM bucket WHERE seq > ? ORDER BY seq LIMIT ?)')
      .get(after, limit)?.seq
    if (last === null || last === undefined) return undefined
    this.#database
      .prepare(
        `DELETE FROM bucket WHERE seq > ? AND seq <= ?
         AND NOT EXISTS (SELECT 1 FROM data WHERE data.key = bucket.key)`,
      )
      .run(after, last)
    return numberOf(last)
  }

  checkpoints(): Checkpoint[] {
    const rows = this.#database.prepare('SELECT idx, log_bytes, saved_at FROM checkpoint ORDER BY idx').all()
    return rows.map(({ idx, log_bytes, saved_at }) => {
      return { index: numberOf(idx), logBytes: numberOf(log_bytes), savedAtMs: numberOf(saved_at) }
    })
  }

  indexBefore(count: number): number {
    const row = this.#database.prepare('SELECT idx FROM log ORDER BY idx DESC LIMIT 1 OFFSET ?').get(count)
    return row === undefined ? 0 : numberOf(row.idx)
  }

  logBytesBetween(after: number, upTo: number): number {
    const sum = 'SELECT coalesce(sum(length(record)), 0) AS bytes FROM log WHERE idx > ? AND idx <= ?'
    return numberOf(this.#database.prepare(sum).get(after, upTo)?.bytes)
  }

  holds(): LogHold[] {
    const rows = this.#database.prepare('SELECT name, kind, idx FROM hold').all()
    return rows.map(({ name, kind, idx }) => {
      if (kind !== 'secondary' && kind !== 'copy') throw new StorageCorrupt('A hold of the log is of no known kind')
      return { name: textOf(name), kind, from: numberOf(idx) }
    })
  }

  saveHolds(holds: readonly LogHold[]): void {
    this.#database.exec('DELETE FROM hold')
    const add = this.#database.prepare('INSERT INTO hold (name, kind, idx) VALUES (?, ?, ?)')
    for (const { name, kind, from } of holds) add.run(name, kind, from)
  }

  /** Removes records from the oldest, `firstIndex`, up to `index`, at most `limit`, and checkpoints without records. */
  forgetRecords(firstIndex: number, index: number, limit: number): void {
    const upTo = Math.min(index, firstIndex + limit - 1)
    this.#dropRecords.run(upTo)
    this.#noteFirst.run()
    this.#dropCheckpoints.run(upTo)
  }
}

/** The saved tree with its pages unchecked; undefined if none was saved yet. @throws StorageCorrupt */
export function readSavedTree(database: DatabaseSync): SavedTree | undefined {
  const row = database.prepare('SELECT idx, chain FROM checkpoint ORDER BY idx DESC LIMIT 1').get()
  if (row === undefined) return undefined
  const pages = database.prepare('SELECT class, scope, page, digests FROM tree').all()
  const stored = bytesOf(row.chain)
  const [chain, version = FIRST_VERSION] = [stored.subarray(0, CHAIN_BYTES), stored[CHAIN_BYTES]]
  return { index: numberOf(row.idx), chain, version, pages: pages.map(pageOf) }
}

function pageOf(row: Record<string, unknown>): TreePage {
  const storageClass = classOfNumber(numberOf(row.class))
  if (storageClass === undefined || storageClass === 'ignored') throw new StorageCorrupt('The saved tree is damaged')
  return { class: storageClass, scope: textOf(row.scope), page: numberOf(row.page), digests: bytesOf(row.digests) }
}
