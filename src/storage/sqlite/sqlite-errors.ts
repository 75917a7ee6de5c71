// What SQLite's result codes mean to the rooms above.
import { StorageCorrupt, StorageError, StorageFailed, StorageFull } from '../contract.ts'

// https://www.sqlite.org/rescode.html
const SQLITE_BUSY = 5
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_NOTADB = 26

/** The primary result code, or undefined where the error is not SQLite's. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY
}

export function isFull(error: unknown): boolean {
  return resultCode(error) === SQLITE_FULL
}

/** An error of a read, or of opening. `what` begins the sentence. Errors that are not SQLite's pass unchanged. */
export function readError(what: string, cause: unknown): unknown {
  const code = resultCode(cause)
  if (code === undefined) return cause
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) return new StorageCorrupt(`${what}: it is damaged`, { cause })
  return new StorageError(`${what}: SQLite reports ${code}`, { cause })
}

/** An error of a write of which nothing is left: only a full device is not final. */
export function writeError(cause: unknown): StorageError {
  if (isFull(cause)) return new StorageFull('The device of the data directory is full', { cause })
  return new StorageFailed('A commit to the data directory failed', { cause })
}
