// The files of the store in its directory: who has them open, and that none of them is a link to somewhere else
// (threats P-07, P-08, N-43).
import { existsSync, lstatSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StorageError } from '../contract.ts'
import { createPrivateFile, isExisting, requirePrivateFile } from '../data-directory.ts'
import type { StoredBytes } from '../driver.ts'
import { isBusy, readError } from './sqlite-errors.ts'

const DATABASE_FILE = 'keywright.db'
const LOCK_FILE = 'keywright.lock'
const STAGING_FOLDER = 'restore.new'

export function databasePath(directory: string): string {
  return join(directory, DATABASE_FILE)
}

/** Where a snapshot is restored before it takes the place of the store. */
export function stagingFolder(directory: string): string {
  return join(directory, STAGING_FOLDER)
}

export function storedBytes(directory: string): StoredBytes {
  const path = databasePath(directory)
  const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return { database: sizeOf(path), journal: sizeOf(`${path}-wal`) }
}

export function dropStaged(directory: string): void {
  rmSync(stagingFolder(directory), { recursive: true, force: true })
}

/** @throws StorageError for a link, a device, a file with a second name, and one that others may read */
export function requirePlainFiles(directory: string): void {
  for (const name of [DATABASE_FILE, `${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`, LOCK_FILE]) {
    const path = join(directory, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) continue
    if (!stats.isFile()) throw new StorageError(`${path} is not a plain file`)
    // SQLite's locks and its journal go by the name, so two names of one file lead to corruption.
    if (stats.nlink > 1) throw new StorageError(`${path} has a second name (hard link)`)
    requirePrivateFile(path, stats)
  }
}

export type DirectoryLock = { release(): void }

/**
 * Held for the life of the process and dropped by the system when it ends, however it ends. A file of its own, that
 * nothing else opens: the locks of a POSIX process on a file are lost when it closes any handle of that file.
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

/** Whether a process has the store open, for writing or for a moment. */
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
    // Two processes start at once: the other one made it, and the lock decides.
    if (!isExisting(error)) throw error
  }
}
