// Checks every entry: its class, and that it is what the log wrote last. With keys it also checks its leaf, and that it
// opens at its key.
import type { DatabaseSync } from 'node:sqlite'
import { sha256 } from '../../crypto/primitives/digest.ts'
import { faultOfKey, isBehindBarrier, mayHaveClass, mountOfKey } from '../classes.ts'
import type { StoredEntry } from '../contract.ts'
import type { StoreVerifyOptions } from '../driver.ts'
import { StorageCorrupt } from '../errors.ts'
import { classOfNumber, LEAF_BYTES, leafOf } from '../log/leaf.ts'
import type { Tree } from '../log/tree.ts'
import type { LatestOperation, LatestOperations } from '../sqlite/latest-operations.ts'
import { bytesOf, numberOf, textOf } from '../sqlite/sqlite-columns.ts'
import type { Found, VerifyKeys } from '../verify-keys.ts'
import type { LogVerifier } from './verify-log.ts'

/** What the check of entries needs. */
export type EntryVerifierParts = {
  /** If undefined, leaves are not computed and values not opened. */
  readonly keys: VerifyKeys | undefined
  readonly latest: LatestOperations
  /** Must have run: it has filled `latest`. */
  readonly log: LogVerifier
  /** Empty at first; takes up the leaf of each entry. */
  readonly tree: Tree
  readonly found: Found
  readonly onEntry: StoreVerifyOptions['onEntry']
}

/** Reads the table `data` once. */
export class EntryVerifier {
  readonly #parts: EntryVerifierParts

  constructor(parts: EntryVerifierParts) {
    this.#parts = parts
  }

  /** Checks all entries, then that none is missing. Calls `onStep` after each entry. */
  run(database: DatabaseSync, onStep: () => void): void {
    for (const row of database.prepare('SELECT key, class, leaf, value FROM data ORDER BY key').iterate()) {
      const key = textOf(row.key)
      const storageClass = classOfNumber(numberOf(row.class))
      if (storageClass === undefined) this.#parts.found(`Entry ${quoted(key)} has the unknown class ${row.class}`)
      else this.#verify({ key, class: storageClass, leaf: bytesOf(row.leaf), value: bytesOf(row.value) })
      onStep()
    }
    this.#verifyPresence(database)
  }

  #verify(entry: StoredEntry): void {
    const { found, keys, onEntry, tree } = this.#parts
    const { key, class: storageClass, leaf } = entry
    if (faultOfKey(key) !== undefined || !mayHaveClass(key, storageClass)) {
      found(`Entry ${quoted(key)} cannot be of the class ${storageClass}`)
    } else if (leaf.length !== (storageClass === 'ignored' ? 0 : LEAF_BYTES)) {
      found(`Entry ${key} has a leaf of ${leaf.length} bytes`)
    } else {
      onEntry?.(entry)
      if (keys !== undefined) this.#verifySeal(entry, keys)
      if (keys !== undefined && storageClass !== 'ignored') tree.add(storageClass, key, leaf, keys.bucketKey)
    }
    this.#verifyAgainstLog(entry)
  }

  #verifySeal({ key, class: storageClass, leaf, value }: StoredEntry, { barrier, leafKey }: VerifyKeys): void {
    const { found } = this.#parts
    if (storageClass !== 'ignored' && !leafOf(leafKey, storageClass, mountOfKey(key), key, value).equals(leaf)) {
      found(`Entry ${key} does not have the leaf of its value`)
    }
    if (!isBehindBarrier(key)) return
    try {
      barrier.open(key, value).fill(0)
    } catch (error) {
      if (!(error instanceof StorageCorrupt)) throw error
      found(`Entry ${key} does not open: ${error.message}`)
    }
  }

  #verifyAgainstLog(entry: StoredEntry): void {
    const { latest, log, found } = this.#parts
    const operation = latest.get(entry.key)
    if (!log.knowsLatest(operation?.index)) return
    if (operation !== undefined) {
      if (isWhatWasWritten(entry, operation)) return
      const what = operation.digest === undefined ? 'is there, and was deleted by' : 'is not what was written by'
      found(`Entry ${quoted(entry.key)} ${what} log record ${operation.index}`)
    } else {
      found(`Entry ${quoted(entry.key)} was written by no log record`)
    }
  }

  #verifyPresence(database: DatabaseSync): void {
    const entry = database.prepare('SELECT 1 AS one FROM data WHERE key = ?')
    for (const { key, index } of this.#parts.latest.present()) {
      if (this.#parts.log.knowsLatest(index) && entry.get(key) === undefined)
        this.#parts.found(`Entry ${key} is missing, log record ${index} wrote it`)
    }
  }
}

function isWhatWasWritten({ class: storageClass, leaf, value }: StoredEntry, operation: LatestOperation): boolean {
  return (
    operation.digest !== undefined &&
    operation.class === storageClass &&
    operation.leaf.equals(leaf) &&
    operation.digest.equals(sha256(value))
  )
}

/** The key for a message. A damaged one may hold anything, so it is escaped. */
function quoted(key: string): string {
  return faultOfKey(key) === undefined ? key : JSON.stringify(key.toWellFormed())
}
