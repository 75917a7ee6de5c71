// What can be told of a store in moments, without its keys and without changing it, beside a server or without one.
import { closeSync, existsSync, fdatasyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { StorageError } from '../contract.ts'
import { decodeRun } from '../log/change-record.ts'
import { readError } from './sqlite-errors.ts'
import { databasePath, isInUse, requireDirectory, requirePlainFiles } from './sqlite-files.ts'
import { requireSoundJournal } from './sqlite-journal.ts'
import { bytesOf, numberOf, requireSoundDatabase } from './sqlite-schema.ts'
import { openReadOnly } from './sqlite-view.ts'

export type QuickLook =
  | { readonly kind: 'none' }
  /** `fault` is a sentence: it cannot be opened so. */
  | { readonly kind: 'damaged'; readonly fault: string }
  | {
      readonly kind: 'sound'
      /** A process has it open. */
      readonly isInUse: boolean
      readonly databaseBytes: number
      /** What a server that was not stopped left to be moved into the database, or is about to. */
      readonly journalBytes: number
      /** Of the last change; 0 and undefined where there is none. */
      readonly index: number
      readonly committedAtMs: number | undefined
    }

/** Not for the process that serves the store: while it is restored, nobody else may open it. */
export function quickLook(directory: string): QuickLook {
  const path = databasePath(directory)
  if (!existsSync(path) && !existsSync(`${path}-wal`)) return { kind: 'none' }
  try {
    requireDirectory(directory)
    requirePlainFiles(directory)
    if (!existsSync(path)) return { kind: 'damaged', fault: `${path} is missing, and its journal is there` }
    const inUse = isInUse(directory)
    // A running server writes to the journal while it would be read.
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

const PROBE_BYTES = 4_096
/** The quickest counts: what else the disk does at one moment is not how fast it is. */
const PROBES = 3
const PROBE_FILE = 'keywright.probe'

/** How long a write takes until it is durable there, in milliseconds. @throws the system's error */
export function measureSync(directory: string, monotonicMs: () => number): number {
  const path = join(directory, PROBE_FILE)
  rmSync(path, { force: true })
  const file = openSync(path, 'wx', 0o600)
  try {
    let leastMs = Number.POSITIVE_INFINITY
    for (let probe = 0; probe < PROBES; probe++) {
      const startMs = monotonicMs()
      writeSync(file, Buffer.alloc(PROBE_BYTES))
      fdatasyncSync(file)
      leastMs = Math.min(leastMs, monotonicMs() - startMs)
    }
    return leastMs
  } finally {
    closeSync(file)
    rmSync(path, { force: true })
  }
}
