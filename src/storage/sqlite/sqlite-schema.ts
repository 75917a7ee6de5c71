// The database file: how a new one is made, and what is checked before one is used (docs/storage-format.md).
import { renameSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { FIRST_EPOCH, HISTORY_ID_BYTES } from '../backend.ts'
import { type Position, StorageCorrupt, StorageError } from '../contract.ts'
import { createPrivateFile, syncDirectory } from '../data-directory.ts'
import { CHAIN_BYTES, decodeRun, nextChain } from '../log/change-record.ts'
import { readError } from './sqlite-errors.ts'
import { databasePath } from './sqlite-files.ts'

/** "KWst": distinguishes the file from any other SQLite database. */
const APPLICATION_ID = 0x4b577374
/** Stored as `user_version`. A store of another format is refused. */
export const STORE_FORMAT = 1

const SCHEMA = `
  CREATE TABLE data (
    key   TEXT    NOT NULL PRIMARY KEY,
    class INTEGER NOT NULL,
    leaf  BLOB    NOT NULL,
    value BLOB    NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE log (
    idx    INTEGER PRIMARY KEY,
    record BLOB NOT NULL
  ) STRICT;
  CREATE TABLE meta (
    only       INTEGER PRIMARY KEY CHECK (only = 1),
    history_id BLOB    NOT NULL,
    epoch      INTEGER NOT NULL,
    last_index INTEGER NOT NULL,
    chain      BLOB    NOT NULL
  ) STRICT;`

/** Derived from the tables above, so a store without these is whole. They are made when it is opened for writing. */
const DERIVED_SCHEMA = `
  CREATE TABLE IF NOT EXISTS tree (
    class   INTEGER NOT NULL,
    scope   TEXT    NOT NULL,
    page    INTEGER NOT NULL,
    digests BLOB    NOT NULL,
    PRIMARY KEY (class, scope, page)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS checkpoint (
    idx       INTEGER PRIMARY KEY,
    chain     BLOB    NOT NULL,
    log_bytes INTEGER NOT NULL,
    saved_at  INTEGER NOT NULL
  ) STRICT;`

/** Makes the derived tables that are missing. */
export function makeDerivedTables(database: DatabaseSync): void {
  database.exec(`BEGIN IMMEDIATE; ${DERIVED_SCHEMA} COMMIT`)
}

/**
 * Makes an empty store. It gets its name only when it is complete and durable, so an empty file is damage and not a
 * beginning.
 * @throws StorageError, or the system's error
 */
export function createDatabase(directory: string, historyId: Buffer): void {
  const path = databasePath(directory)
  const draft = `${path}.new`
  try {
    writeEmptyStore(draft, historyId)
  } catch (error) {
    throw readError(`${path} cannot be created`, error)
  }
  renameSync(draft, path)
  syncDirectory(directory)
}

function writeEmptyStore(draft: string, historyId: Buffer): void {
  for (const leftover of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(leftover, { force: true })
  // SQLite makes its side files with the same mode.
  createPrivateFile(draft)
  const database = new DatabaseSync(draft)
  try {
    // The journal mode is kept in the file.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN')
    database.exec(SCHEMA)
    database.prepare('INSERT INTO meta VALUES (1, ?, ?, 0, ?)').run(historyId, FIRST_EPOCH, historyId)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${STORE_FORMAT}; COMMIT`)
    // Closing would do this too, but silently if it failed.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    database.close()
  }
}

/**
 * Checks a database that is to be used: format, the row of `meta`, and the last records against it. Entries are not
 * read.
 * @throws StorageCorrupt or StorageError, in a sentence that begins with the path of the file
 */
export function requireSoundDatabase(database: DatabaseSync, path: string): void {
  if (statSync(path).size === 0) throw new StorageCorrupt(`${path} is empty`)
  try {
    // One read transaction: another thread may be writing.
    database.exec('BEGIN')
    requireOurFormat(database, path)
    const faults = database.prepare("PRAGMA quick_check('meta')").all()
    if (faults[0]?.quick_check !== 'ok') throw new StorageCorrupt(`${path} is damaged`)
    requireMatchingLog(database, path, readPosition(preparePosition(database)))
    database.exec('COMMIT')
  } catch (error) {
    throw readError(`${path} cannot be used`, error)
  }
}

/** @throws StorageError for a database of another program or of another format */
export function requireOurFormat(database: DatabaseSync, path: string): void {
  const id = database.prepare('PRAGMA application_id').get()?.application_id
  if (id !== APPLICATION_ID) throw new StorageError(`${path} is a database of another program`)
  const format = database.prepare('PRAGMA user_version').get()?.user_version
  if (format !== STORE_FORMAT) {
    throw new StorageError(`${path} has the store format ${format}, this version of Keywright reads ${STORE_FORMAT}`)
  }
}

/** The last records must be those that the row of `meta` names. Record 1 must continue the history id. */
function requireMatchingLog(database: DatabaseSync, path: string, { index, chain, historyId }: Position): void {
  const rows = database.prepare('SELECT idx, record FROM log ORDER BY idx DESC LIMIT 2').all().reverse()
  const run = rows.map(({ idx, record }) => ({ index: numberOf(idx), record: bytesOf(record) }))
  const changes = decodeRun(run)
  const last = changes.at(-1)
  // A log without records is that of a new store, or of a restored one, which goes on above indexes in use.
  if ((last?.index ?? index) !== index || !(last?.chain ?? historyId).equals(chain)) {
    throw new StorageCorrupt(`${path} is damaged: its log ends at ${last?.index ?? 0}, its state is that of ${index}`)
  }
  const [first] = run
  if (first?.index === 1 && !changes[0]?.chain.equals(nextChain(historyId, first.record))) {
    throw new StorageCorrupt(`${path} is damaged: log record 1 does not continue the chain`)
  }
}

/** The statement that `readPosition` runs. */
export function preparePosition(database: DatabaseSync): StatementSync {
  return database.prepare('SELECT history_id, epoch, last_index, chain FROM meta')
}

/** Reads the row of `meta`. @throws StorageCorrupt */
export function readPosition(position: StatementSync): Position {
  const row = position.get()
  if (row === undefined) throw new StorageCorrupt('The store has lost its own row')
  const historyId = bytesOf(row.history_id)
  const chain = bytesOf(row.chain)
  if (historyId.length !== HISTORY_ID_BYTES || chain.length !== CHAIN_BYTES) {
    throw new StorageCorrupt("The store's own row is damaged")
  }
  return { index: numberOf(row.last_index), chain, epoch: numberOf(row.epoch), historyId }
}

/** A column that must hold a number. @throws StorageCorrupt */
export function numberOf(column: unknown): number {
  if (typeof column !== 'number') throw new StorageCorrupt('A stored number is not one')
  return column
}

/** A copy of a column that must hold bytes. @throws StorageCorrupt */
export function bytesOf(column: unknown): Buffer {
  if (!(column instanceof Uint8Array)) throw new StorageCorrupt('Stored bytes are not bytes')
  return Buffer.from(column)
}

/** A column that must hold text. @throws StorageCorrupt */
export function textOf(column: unknown): string {
  if (typeof column !== 'string') throw new StorageCorrupt('A stored text is not one')
  return column
}
