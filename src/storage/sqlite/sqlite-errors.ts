// Translates SQLite's result codes into the errors of the contract.
import { StorageCorrupt, StorageError, StorageFailed, StorageFull } from '../errors.ts'

// https://www.sqlite.org/rescode.html
const SQLITE_BUSY = 5
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_NOTADB = 26

/** The primary result code, which is in the low byte of an extended one; undefined if the error is not SQLite's. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

/** True if another connection holds a lock that was needed. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY
}

/** True if the device was full, as SQLite tells it or the system. */
export function isFull(error: unknown): boolean {
  return resultCode(error) === SQLITE_FULL || (error instanceof Error && 'code' in error && error.code === 'ENOSPC')
}

/** The error to throw for a failed read or open; `what` begins its sentence. Returns errors of others unchanged. */
export function readError(what: string, cause: unknown): unknown {
  const code = resultCode(cause)
  if (code === undefined) return cause
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) return new StorageCorrupt(`${what}: it is damaged`, { cause })
  return new StorageError(`${what}: SQLite reports ${code}`, { cause })
}

/** The error to throw for a write that was rolled back. Only a full device is not final (threats P-02, P-03). */
export function writeError(cause: unknown): StorageError {
  if (isFull(cause)) return new StorageFull('The device of the data directory is full', { cause })
  return new StorageFailed('A commit to the data directory failed', { cause })
}
