// The store that takes the place of the one in use, for a restore or an activation: a database of its own in a folder
// of the data directory. It replaces the other by one renaming, so a crash leaves one or the other.
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { FIRST_EPOCH, HISTORY_ID_BYTES } from '../backend.ts'
import type { StoredEntry } from '../contract.ts'
import { syncDirectory } from '../data-directory.ts'
import type { StagedPosition, StagedWriter, Staging, StoreVerifyOptions, StoreVerifyReport } from '../driver.ts'
import { StorageFailed, StorageFull } from '../errors.ts'
import { firstHistory } from '../log/histories.ts'
import { CLASS_NUMBERS } from '../log/leaf.ts'
import { isFull, writeError } from './sqlite-errors.ts'
import { databasePath, dropStaged, stagingFolder } from './sqlite-files.ts'
import { insertMeta } from './sqlite-position.ts'
import { createDatabase } from './sqlite-schema.ts'

/** Stands in a staged store until it is settled. */
const NOBODYS = firstHistory(Buffer.alloc(HISTORY_ID_BYTES), FIRST_EPOCH, 0)

/** `Staging` in a folder. It holds nothing open between calls, so any thread may have one. */
export class SqliteStaging implements Staging {
  readonly #directory: string
  readonly #folder: string

  constructor(directory: string, folder = stagingFolder(directory)) {
    this.#directory = directory
    this.#folder = folder
  }

  async begin(): Promise<StagedWriter> {
    await this.drop()
    mkdirSync(this.#folder, { mode: 0o700 })
    createDatabase(this.#folder, NOBODYS)
    return new SqliteStagedWriter(databasePath(this.#folder))
  }

  async settle(at: StagedPosition): Promise<void> {
    whileThereIsRoom(() => flush(databasePath(this.#folder), at))
    syncDirectory(this.#folder)
  }

  async verify(options: StoreVerifyOptions): Promise<StoreVerifyReport> {
    // Loaded here: a thread of its own runs this, and no other has a use for it.
    const { verifyStore } = await import('../verify/verify.ts')
    return whileThereIsRoom(() => verifyStore({ ...options, directory: this.#folder }))
  }

  async adopt(): Promise<void> {
    putInPlace(this.#directory, this.#folder)
    await this.drop()
  }

  async drop(): Promise<void> {
    dropStaged(this.#folder)
  }
}

/** Renames the staged database of the folder over that of the directory. @throws StorageFailed: the old one stays */
export function putInPlace(directory: string, folder: string): void {
  const path = databasePath(directory)
  const journal = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (journal !== undefined && journal.size > 0)
    throw new StorageFailed(`${path}-wal holds commits: the store is in use`)
  // Neither the journal nor its index belongs to the new database.
  const staged = databasePath(folder)
  if (!existsSync(staged)) throw new StorageFailed('There is no staged store to adopt')
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  renameSync(staged, path)
  syncDirectory(directory)
}

class SqliteStagedWriter implements StagedWriter {
  readonly #database: DatabaseSync

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { defensive: true })
    try {
      // Nothing counts before `settle` flushes the whole file.
      this.#database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -32768; PRAGMA trusted_schema = OFF')
    } catch (error) {
      this.#database.close()
      throw isFull(error) ? writeError(error) : error
    }
  }

  async write(entries: readonly StoredEntry[]): Promise<void> {
    try {
      const put = this.#database.prepare('INSERT INTO data (key, class, leaf, value) VALUES (?, ?, ?, ?)')
      this.#database.exec('BEGIN')
      for (const { key, class: storageClass, leaf, value } of entries) {
        put.run(key, CLASS_NUMBERS[storageClass], leaf, value)
      }
      this.#database.exec('COMMIT')
    } catch (error) {
      throw isFull(error) ? writeError(error) : error
    }
  }

  async close(): Promise<void> {
    this.#database.close()
  }
}

/** Sets the position and makes the whole file durable. */
function flush(path: string, at: StagedPosition): void {
  const database = new DatabaseSync(path, { defensive: true })
  try {
    database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON')
    // A checkpoint flushes the file only if the journal has a frame, and then all that was written before as well.
    database.exec('BEGIN')
    insertMeta(database, at)
    database.exec('COMMIT')
    const { busy } = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
    if (busy !== 0) throw new StorageFailed('The staged database could not be flushed')
  } finally {
    database.close()
  }
}

/** Runs `work` with a full device in the contract's words. */
function whileThereIsRoom<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!isFull(cause)) throw cause
    throw new StorageFull('There is no room for the staged store', { cause })
  }
}
