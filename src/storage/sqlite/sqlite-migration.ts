// Makes a store of format 1 one of format 2, when the writing thread opens it. The tables change in one transaction of
// SQLite, so a crash leaves one format or the other. The old file is kept beside the new one: the way back is to rename
// it. It is still there after the first clean stop, when an operator who is not content wants it. It goes when a run
// that found format 2 closes the store cleanly.
//
//   journal moved into the file ─▶ copy of the file, made durable ─▶ copy gets its name ─▶ tables changed
//
// No connection is open while the file is copied: a process that closes a file loses the locks that SQLite has on it.
import { constants, copyFileSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { createPrivateFile, syncDirectory, syncFile } from '../data-directory.ts'
import { StorageError } from '../errors.ts'
import { openForWriting, prepareForWriting } from './sqlite-connection.ts'
import { readError } from './sqlite-errors.ts'
import { keptPath } from './sqlite-files.ts'
import { migrateTables } from './sqlite-schema.ts'

/** What lasts from the start of a server to its stop, though a restore closes the store and opens another. */
export type StoreRun = {
  /** True once this run has migrated the store: it keeps the old file. */
  hasMigrated: boolean
}

/** Migrates the file, which no connection of this process has open. @throws StorageError; the store is as it was */
export function migrate(path: string, freeBytes: (directory: string) => number = freeBytesOf): void {
  try {
    withConnection(path, (connection) => connection.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
    requireRoom(path, freeBytes)
    keepCopy(path)
    withConnection(path, migrateTables)
  } catch (cause) {
    throw readError(`${path} cannot be migrated from store format 1`, cause)
  }
}

function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** @throws StorageError if there is no room for the copy */
function requireRoom(path: string, freeBytes: (directory: string) => number): void {
  const directory = dirname(path)
  const { size } = statSync(path)
  // The store is still format 1, so a copy that an interrupted migration left is of no use, whole or not. It goes
  // first: where there was room for one copy there might be none for two, and no start would ever succeed.
  dropKept(path)
  const free = freeBytes(directory)
  if (free >= size) return
  const needs = `The migration of ${path} from store format 1 keeps a copy, for which ${size} bytes must be free in`
  throw new StorageError(`${needs} ${directory}; there are ${free}`)
}

/** Removes the file that a migration kept, and what an interrupted one left. */
export function dropKept(path: string): void {
  const kept = keptPath(path)
  for (const file of [kept, draftOf(kept)]) rmSync(file, { force: true })
}

function draftOf(kept: string): string {
  return `${kept}.new`
}

function withConnection(path: string, work: (connection: DatabaseSync) => void): void {
  const connection = openForWriting(path)
  try {
    prepareForWriting(connection)
    work(connection)
  } finally {
    connection.close()
  }
}

/** @throws StorageError if the file is not the whole store, since another program reads it; the system's error */
function keepCopy(path: string): void {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new StorageError(`${path} has the store format 1 and cannot be migrated while another program reads it`)
  }
  const kept = keptPath(path)
  const draft = draftOf(kept)
  createPrivateFile(draft)
  copyFileSync(path, draft, constants.COPYFILE_FICLONE)
  syncFile(draft)
  renameSync(draft, kept)
  syncDirectory(dirname(path))
}
