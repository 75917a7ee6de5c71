// What can be told about a store in moments, without its keys and without changing it. A server may be running.
import { existsSync, statSync } from 'node:fs'
import { requireDirectory } from '../data-directory.ts'
import type { StoreSummary } from '../driver.ts'
import { StorageError } from '../errors.ts'
import { decodeRun } from '../log/change-record.ts'
import { bytesOf, numberOf } from './sqlite-columns.ts'
import { readError } from './sqlite-errors.ts'
import { databasePath, isInUse, requirePlainFiles } from './sqlite-files.ts'
import { requireSoundJournal } from './sqlite-journal.ts'
import { requireSoundDatabase } from './sqlite-schema.ts'
import { openReadOnly } from './sqlite-view.ts'

/** Looks at files, journal, format and last records. Never throws for a damaged store: the summary says so. */
export function summarizeStore(directory: string): StoreSummary {
  const path = databasePath(directory)
  if (!existsSync(path) && !existsSync(`${path}-wal`)) return { kind: 'none' }
  try {
    requireDirectory(directory)
    requirePlainFiles(directory)
    if (!existsSync(path)) return { kind: 'damaged', fault: `${path} is missing, and its journal is there` }
    const inUse = isInUse(directory)
    // A running server would write to the journal while it is read.
    if (!inUse) requireSoundJournal(path)
    return { kind: 'sound', isInUse: inUse, ...sizesOf(path), ...lastChange(path) }
  } catch (cause) {
    const error = readError(`${path} cannot be read`, cause)
    if (error instanceof StorageError) return { kind: 'damaged', fault: error.message }
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    return { kind: 'damaged', fault: `${path} cannot be read (${code})` }
  }
}

function sizesOf(path: string): { readonly databaseBytes: number; readonly journalBytes: number } {
  return {
    databaseBytes: statSync(path).size,
    journalBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
  }
}

function lastChange(path: string): { readonly index: number; readonly committedAtMs: number | undefined } {
  const database = openReadOnly(path)
  try {
    requireSoundDatabase(database, path)
    const row = database.prepare('SELECT idx, record FROM log ORDER BY idx DESC LIMIT 1').get()
    if (row === undefined) return { index: 0, committedAtMs: undefined }
    const index = numberOf(row.idx)
    const [change] = decodeRun([{ index, record: bytesOf(row.record) }])
    return { index, committedAtMs: change?.committedAtMs }
  } finally {
    database.close()
  }
}
