// The data directory and the files in it: who may read them, who has them open, and that none of them is a link to
// somewhere else (threats P-07, P-08, N-43).
import { closeSync, existsSync, fsyncSync, lstatSync, mkdirSync, openSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StorageError } from '../contract.ts'
import { isBusy, readError } from './sqlite-errors.ts'

export const DATABASE_FILE = 'keywright.db'
const LOCK_FILE = 'keywright.lock'
const STAGING_FOLDER = 'restore.new'
const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600
const OTHERS = 0o077
/** Windows has no such modes and cannot open a directory; there the directory's own access list protects. */
const HAS_MODES = process.platform !== 'win32'

export function databasePath(directory: string): string {
  return join(directory, DATABASE_FILE)
}

/** Where a snapshot is restored before it takes the place of the store. */
export function stagingFolder(directory: string): string {
  return join(directory, STAGING_FOLDER)
}

/** Sizes of the store and of its journal; 0 for one that is not there. */
export function storedBytes(directory: string): { readonly database: number; readonly journal: number } {
  const path = databasePath(directory)
  const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return { database: sizeOf(path), journal: sizeOf(`${path}-wal`) }
}

export function dropStaged(directory: string): void {
  rmSync(stagingFolder(directory), { recursive: true, force: true })
}

/** Creates the directory where it is missing. @throws StorageError where others may enter it */
export function prepareDirectory(directory: string): void {
  for (const made of makeMissing(resolve(directory))) syncDirectory(dirname(made))
  requireDirectory(directory)
}

/**
 * The directories that were missing, the outermost first. Made one by one, because the recursive form of `mkdirSync`
 * never returns where the system refuses with "no such directory" what is there, as in /proc.
 */
function makeMissing(path: string): string[] {
  const above = dirname(path)
  if (above === path || existsSync(path)) return []
  const made = makeMissing(above)
  try {
    mkdirSync(path, { mode: DIRECTORY_MODE })
  } catch (error) {
    // Another process was quicker.
    if (!isExisting(error)) throw error
  }
  return [...made, path]
}

export function requireDirectory(directory: string): void {
  const stats = statSync(directory, { throwIfNoEntry: false })
  if (stats === undefined) throw new StorageError(`The data directory ${directory} is missing`)
  if (!stats.isDirectory()) throw new StorageError(`The data directory ${directory} is not a directory`)
  requireOwnersOnly(directory, stats, DIRECTORY_MODE)
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
    requireOwnersOnly(path, stats, FILE_MODE)
  }
}

function requireOwnersOnly(path: string, stats: Stats, wanted: number): void {
  if (!HAS_MODES || (stats.mode & OTHERS) === 0) return
  throw new StorageError(`${path} may be used by others: its mode must be ${wanted.toString(8)} (chmod)`)
}

/**
 * Creates an empty file that only its owner may read, whatever the umask; SQLite gives its side files the same mode.
 * An existing file, or a link, of that name is refused.
 */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, 'wx', FILE_MODE))
}

/** Makes a creation or renaming in the directory durable. */
export function syncDirectory(directory: string): void {
  if (!HAS_MODES) return
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
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

function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}
