// The files of the store in its directory. One process at a time has them open, and none of them is a link
// (threats P-07, P-08, N-43).
import { existsSync, lstatSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPrivateFile, isExisting, requirePrivateFile } from '../data-directory.ts'
import type { StoredBytes } from '../driver.ts'
import { StorageError } from '../errors.ts'
import { isBusy, readError } from './sqlite-errors.ts'

const DATABASE_FILE = 'keywright.db'
const LOCK_FILE = 'keywright.lock'
const STAGING_FOLDER = 'restore.new'
const LEFT_FOLDER = 'left.new'

/** Path of the database file. Its journal has the suffix `-wal`, the index of the journal `-shm`. */
export function databasePath(directory: string): string {
  return join(directory, DATABASE_FILE)
}

/** The file of format 1 that a migration keeps. It is not opened, so its name is not among those that are checked. */
export function keptPath(path: string): string {
  return `${path}.format-1`
}

/** The folder in which a snapshot is staged before it replaces the store. */
export function stagingFolder(directory: string): string {
  return join(directory, STAGING_FOLDER)
}

/** The folder of what the store is being left with (sqlite-leaving.ts). A restore may be staging beside it. */
export function leftFolder(directory: string): string {
  return join(directory, LEFT_FOLDER)
}

/** Sizes of the database and its journal, 0 for a missing file. */
export function storedBytes(directory: string): StoredBytes {
  const path = databasePath(directory)
  const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return { database: sizeOf(path), journal: sizeOf(`${path}-wal`) }
}

/** Removes a staged store with its folder, if there is one. */
export function dropStaged(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

/** @throws StorageError for a link, a device, a file with a second name, or a file that others may read */
export function requirePlainFiles(directory: string): void {
  for (const name of [DATABASE_FILE, `${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`, LOCK_FILE]) {
    const path = join(directory, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) continue
    if (!stats.isFile()) throw new StorageError(`${path} is not a plain file`)
    // SQLite finds locks and journal by the name, so two names of one file lead to corruption.
    if (stats.nlink > 1) throw new StorageError(`${path} has a second name (hard link)`)
    requirePrivateFile(path, stats)
  }
}

/** The lock that a process holds on its data directory. */
export type DirectoryLock = { release(): void }

/**
 * Locks the directory for this process. The system drops the lock when the process ends, however it ends. The lock has
 * a file of its own: a POSIX process loses its locks on a file when it closes any handle of that file.
 * @throws StorageError if another process holds it
 */
export function lockDirectory(directory: string): DirectoryLock {
  const path = join(directory, LOCK_FILE)
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) createLockFile(path)
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    // Nothing is ever written to it, so it needs no journal beside it.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isBusy(error)) {
      throw new StorageError(`The data directory ${directory} is in use by another process`, { cause: error })
    }
    throw readError(`The lock ${path} cannot be taken`, error)
  }
  return { release: () => database.close() }
}

/** True if a process holds the lock. Takes it for a moment, so two such questions at once may see each other. */
export function isInUse(directory: string): boolean {
  if (!existsSync(join(directory, LOCK_FILE))) return false
  try {
    lockDirectory(directory).release()
    return false
  } catch (error) {
    if (error instanceof StorageError && isBusy(error.cause)) return true
    throw error
  }
}

function createLockFile(path: string): void {
  try {
    createPrivateFile(path)
  } catch (error) {
    // Another process that starts at the same time has made it. The lock decides between them.
    if (!isExisting(error)) throw error
  }
}
