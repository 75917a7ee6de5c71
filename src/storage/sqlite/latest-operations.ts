// What the log says last about each key, kept outside the heap. SQLite keeps this temporary database in a file without
// a name, so a log of any length can be replayed in bounded memory.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { sha256 } from '../../crypto/primitives/digest.ts'
import type { ChangeOperation, StorageClass } from '../contract.ts'
import { CLASS_NUMBERS, classOfNumber } from '../log/leaf.ts'
import { bytesOf, numberOf, textOf } from './sqlite-columns.ts'

/** The last operation on one key. */
export type LatestOperation = {
  /** Index of the record. */
  readonly index: number
  readonly class: StorageClass
  readonly leaf: Buffer
  /** SHA-256 of the value; undefined if the entry was deleted. */
  readonly digest: Buffer | undefined
}

/** The last operation on every key, filled while a check reads the log (verify/verify-log.ts). */
export class LatestOperations {
  readonly #database = new DatabaseSync('')
  readonly #put: StatementSync
  readonly #get: StatementSync

  constructor() {
    // The data may be lost with the process, so nothing is flushed.
    this.#database.exec(`
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768;
      CREATE TABLE latest (
        key TEXT NOT NULL PRIMARY KEY, idx INTEGER NOT NULL, class INTEGER NOT NULL, leaf BLOB NOT NULL, digest BLOB
      ) STRICT, WITHOUT ROWID;
      BEGIN`)
    this.#put = this.#database.prepare('INSERT OR REPLACE INTO latest VALUES (?, ?, ?, ?, ?)')
    this.#get = this.#database.prepare('SELECT idx, class, leaf, digest FROM latest WHERE key = ?')
  }

  put(index: number, { kind, class: storageClass, key, newLeaf, value }: ChangeOperation): void {
    this.#put.run(key, index, CLASS_NUMBERS[storageClass], newLeaf, kind === 'put' ? sha256(value) : null)
  }

  get(key: string): LatestOperation | undefined {
    const row = this.#get.get(key)
    if (row === undefined) return undefined
    return {
      index: numberOf(row.idx),
      class: classOfNumber(numberOf(row.class)) ?? 'ignored',
      leaf: bytesOf(row.leaf),
      digest: row.digest === null ? undefined : bytesOf(row.digest),
    }
  }

  /** Keys whose last operation is a put, each with the index of its record. */
  *present(): Generator<{ readonly key: string; readonly index: number }> {
    const rows = this.#database.prepare('SELECT key, idx FROM latest WHERE digest IS NOT NULL ORDER BY key').iterate()
    for (const { key, idx } of rows) yield { key: textOf(key), index: numberOf(idx) }
  }

  close(): void {
    this.#database.close()
  }
}
