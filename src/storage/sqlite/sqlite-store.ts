// Opens the store of a data directory for the one process that writes it.
import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Random } from '../../lib/world.ts'
import { FIRST_EPOCH, HISTORY_ID_BYTES } from '../backend.ts'
import { openStore, type StoreOptions } from '../commit/transactional-store.ts'
import type { Store } from '../contract.ts'
import { prepareDirectory, syncDirectory } from '../data-directory.ts'
import { StorageCorrupt, StorageError } from '../errors.ts'
import { firstHistory } from '../log/histories.ts'
import type { History } from '../peer-log.ts'
import { SqliteBackend } from './sqlite-backend.ts'
import { openForWriting, prepareForWriting } from './sqlite-connection.ts'
import { isFull, readError } from './sqlite-errors.ts'
import {
  type DirectoryLock,
  databasePath,
  dropStaged,
  lockDirectory,
  requirePlainFiles,
  stagingFolder,
} from './sqlite-files.ts'
import { requireSoundJournal } from './sqlite-journal.ts'
import { endLeaving } from './sqlite-leaving.ts'
import { migrate, type StoreRun } from './sqlite-migration.ts'
import { createDatabase, makeDerivedTables, requireSoundDatabase, STORE_FORMAT } from './sqlite-schema.ts'

/**
 * Options of a store and where it lies. `random` draws the history id of a new one. `run` is shared by the stores that
 * a server opens one after the other; missing: there is one.
 */
export type SqliteStoreOptions = StoreOptions & {
  readonly directory: string
  readonly random: Random
  readonly run?: StoreRun
}

/** Opens the store in the directory; makes either if it is missing. @throws StorageError, in a sentence */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  return openStore(openSqliteBackend(options.directory, options.random, options.clock.nowMs(), options.run), options)
}

/**
 * Opens the backend alone. A new store notes `nowMs` as its beginning.
 * @throws StorageError if another process has it open, or if it is damaged
 */
export function openSqliteBackend(
  directory: string,
  random: Random,
  nowMs = 0,
  run: StoreRun = { hasMigrated: false },
): SqliteBackend {
  let lock: DirectoryLock | undefined
  try {
    prepareDirectory(directory)
    requirePlainFiles(directory)
    lock = lockDirectory(directory)
    // An interrupted restore left it. Only after the lock: another process may be restoring now.
    dropStaged(stagingFolder(directory))
    endLeaving(directory)
    const path = databasePath(directory)
    requireDatabase(directory, path, () => newHistory(random, nowMs))
    const backend = connect(path, lock, run)
    // The journal may just have been made, and SQLite ignores a failure to sync its directory entry.
    syncDirectory(directory)
    return backend
  } catch (cause) {
    lock?.release()
    if (cause instanceof StorageError || !(cause instanceof Error)) throw cause
    // An error of the file system: its message names the file and the cause.
    throw new StorageError(`The data directory ${directory} cannot be used: ${cause.message}`, { cause })
  }
}

function newHistory(random: Random, nowMs: number): History {
  return firstHistory(random.bytes(HISTORY_ID_BYTES), FIRST_EPOCH, Math.floor(nowMs))
}

function requireDatabase(directory: string, path: string, history: () => History): void {
  if (!existsSync(path)) {
    if (existsSync(`${path}-wal`)) throw new StorageCorrupt(`${path} is missing, and its journal is there`)
    createDatabase(directory, history())
  }
  requirePlainFiles(directory)
  requireSoundJournal(path)
}

function connect(path: string, lock: DirectoryLock, run: StoreRun): SqliteBackend {
  const connection = openForWriting(path)
  try {
    if (requireSoundDatabase(connection, path) < STORE_FORMAT) {
      connection.close()
      migrate(path)
      run.hasMigrated = true
      return connect(path, lock, run)
    }
    prepareForWriting(connection)
    beginJournal(connection)
    requireDerivedTables(connection, path)
    return new SqliteBackend(path, connection, lock, run)
  } catch (error) {
    if (connection.isOpen) connection.close()
    throw error
  }
}

/**
 * Moves what a killed process left in the journal into the database, and starts a new journal. So frames torn in one
 * crash never lie behind commits of the next run, where sqlite-journal.ts would have to tell them apart.
 */
function beginJournal(connection: DatabaseSync): void {
  try {
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch (error) {
    if (!isFull(error)) throw readError('The journal of the store cannot be moved into its file', error)
  }
}

function requireDerivedTables(connection: DatabaseSync, path: string): void {
  try {
    makeDerivedTables(connection)
  } catch (error) {
    throw readError(`${path} cannot be written`, error)
  }
}
