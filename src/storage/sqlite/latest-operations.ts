// What the log says last of each key, outside of memory: a temporary database that SQLite keeps in a file without a
// name, so that a log of any length can be replayed in a bounded heap.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { sha256 } from '../../crypto/primitives/digest.ts'
import type { ChangeOperation, StorageClass } from '../contract.ts'
import { CLASS_NUMBERS, classOfNumber } from '../log/leaf.ts'
import { bytesOf, numberOf, textOf } from './sqlite-schema.ts'

export type LatestOperation = {
  /** Of the record that wrote it. */
  readonly index: number
  readonly class: StorageClass
  readonly leaf: Buffer
  /** SHA-256 of the value; undefined where it was deleted. */
  readonly digest: Buffer | undefined
}

export class LatestOperations {
  readonly #database = new DatabaseSync('')
  readonly #put: StatementSync
  readonly #get: StatementSync

  constructor() {
    // Lost with the process, as it should be, so nothing is flushed.
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

  /** Keys that must be there, each with the index of the record that wrote it. */
  *present(): Generator<{ readonly key: string; readonly index: number }> {
    const rows = this.#database.prepare('SELECT key, idx FROM latest WHERE digest IS NOT NULL ORDER BY key').iterate()
    for (const { key, idx } of rows) yield { key: textOf(key), index: numberOf(idx) }
  }

  close(): void {
    this.#database.close()
  }
}
