// The database file: how a new one is made, and what is checked before one is used (docs/storage-format.md).
import { renameSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Change } from '../contract.ts'
import { createPrivateFile, syncDirectory } from '../data-directory.ts'
import { StorageCorrupt, StorageError } from '../errors.ts'
import { decodeRun, nextChain } from '../log/change-record.ts'
import type { History, Position } from '../peer-log.ts'
import { bytesOf, numberOf } from './sqlite-columns.ts'
import { readError } from './sqlite-errors.ts'
import { databasePath } from './sqlite-files.ts'
import {
  type Beginning,
  insertMeta,
  preparePosition,
  readFormat,
  readHistories,
  readPosition,
} from './sqlite-position.ts'

/** "KWst": distinguishes the file from any other SQLite database. */
const APPLICATION_ID = 0x4b577374
/** Stored as `user_version`. A newer format is refused. The writing thread migrates an older one at its start. */
export const STORE_FORMAT = 2

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
  ) STRICT;`

/** What format 2 has changed. A column of an origin is NULL as long as there is none. */
const POSITION_SCHEMA = `
  CREATE TABLE meta (
    only               INTEGER PRIMARY KEY CHECK (only = 1),
    history_id         BLOB    NOT NULL,
    epoch              INTEGER NOT NULL,
    last_index         INTEGER NOT NULL,
    chain              BLOB    NOT NULL,
    first_index        INTEGER NOT NULL,
    last_replicated    INTEGER NOT NULL,
    last_local         INTEGER NOT NULL,
    dr_origin          BLOB,
    performance_origin BLOB
  ) STRICT;
  CREATE TABLE history (
    start_index  INTEGER PRIMARY KEY,
    id           BLOB    NOT NULL,
    epoch        INTEGER NOT NULL,
    parent_id    BLOB,
    parent_index INTEGER,
    parent_chain BLOB,
    started_at   INTEGER NOT NULL
  ) STRICT;`

/**
 * A store without these tables is whole: tree, bucket and checkpoint are derived from those above, and hold is for how
 * long the log is kept. They are made when it is opened for writing.
 */
const DERIVED_SCHEMA = `
  CREATE TABLE IF NOT EXISTS tree (
    class   INTEGER NOT NULL,
    scope   TEXT    NOT NULL,
    page    INTEGER NOT NULL,
    digests BLOB    NOT NULL,
    PRIMARY KEY (class, scope, page)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS bucket (
    seq    INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    key    TEXT    NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS checkpoint (
    idx       INTEGER PRIMARY KEY,
    chain     BLOB    NOT NULL,
    log_bytes INTEGER NOT NULL,
    saved_at  INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS hold (
    name TEXT    NOT NULL PRIMARY KEY,
    kind TEXT    NOT NULL,
    idx  INTEGER NOT NULL
  ) STRICT;`

/** Makes the derived tables that are missing. */
export function makeDerivedTables(database: DatabaseSync): void {
  database.exec(`BEGIN IMMEDIATE; ${DERIVED_SCHEMA} COMMIT`)
}

/**
 * Makes a store of format 1 one of format 2, in one durable step. What is derived goes: it is made anew. The records of
 * the log stay as they are. @throws the error of SQLite; the store is then as it was
 */
export function migrateTables(database: DatabaseSync): void {
  const position = readPosition(preparePosition(database))
  const histories = readHistories(database)
  database.exec('BEGIN IMMEDIATE')
  try {
    const first = database.prepare('SELECT min(idx) AS idx FROM log').get()?.idx
    database.exec(`DROP TABLE IF EXISTS tree; DROP TABLE IF EXISTS checkpoint; DROP TABLE meta; ${POSITION_SCHEMA}`)
    insertMeta(database, { index: position.index, histories })
    const place = database.prepare('UPDATE meta SET chain = ?, first_index = coalesce(?, first_index)')
    place.run(position.chain, first === null ? null : numberOf(first))
    database.exec(`PRAGMA user_version = ${STORE_FORMAT}; COMMIT`)
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/**
 * Makes an empty store. It gets its name only when it is complete and durable, so an empty file is damage and not a
 * beginning.
 * @throws StorageError, or the system's error
 */
export function createDatabase(directory: string, history: History): void {
  const path = databasePath(directory)
  const draft = `${path}.new`
  try {
    writeEmptyStore(draft, history)
  } catch (error) {
    throw readError(`${path} cannot be created`, error)
  }
  renameSync(draft, path)
  syncDirectory(directory)
}

function writeEmptyStore(draft: string, history: History): void {
  for (const leftover of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(leftover, { force: true })
  // SQLite makes its side files with the same mode.
  createPrivateFile(draft)
  const database = new DatabaseSync(draft)
  try {
    // The journal mode is kept in the file.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN')
    makeTables(database, { index: history.startIndex - 1, histories: [history] })
    database.exec('COMMIT')
    // Closing would do this too, but silently if it failed.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    database.close()
  }
}

/** Makes all tables but the derived ones, in a database that has none. */
export function makeTables(database: DatabaseSync, beginning: Beginning): void {
  database.exec(SCHEMA)
  database.exec(POSITION_SCHEMA)
  insertMeta(database, beginning)
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${STORE_FORMAT}`)
}

/**
 * Checks a database that is to be used: format, the row of `meta`, and the last records against it. Entries are not
 * read. Returns the format.
 * @throws StorageCorrupt or StorageError, in a sentence that begins with the path of the file
 */
export function requireSoundDatabase(database: DatabaseSync, path: string): number {
  if (statSync(path).size === 0) throw new StorageCorrupt(`${path} is empty`)
  return requireSoundTables(database, path)
}

/** The part of `requireSoundDatabase` that needs no file; `path` names the database. */
export function requireSoundTables(database: DatabaseSync, path: string): number {
  try {
    // One read transaction: another thread may be writing.
    database.exec('BEGIN')
    const format = requireOurFormat(database, path)
    for (const table of format === 1 ? ['meta'] : ['meta', 'history']) {
      const [fault] = database.prepare(`PRAGMA quick_check('${table}')`).all()
      if (fault?.quick_check !== 'ok') throw new StorageCorrupt(`${path} is damaged`)
    }
    requireMatchingLog(database, path, readPosition(preparePosition(database)))
    database.exec('COMMIT')
    return format
  } catch (error) {
    throw readError(`${path} cannot be used`, error)
  }
}

/** Returns the format. @throws StorageError for a database of another program or of a newer format */
export function requireOurFormat(database: DatabaseSync, path: string): number {
  const id = database.prepare('PRAGMA application_id').get()?.application_id
  if (id !== APPLICATION_ID) throw new StorageError(`${path} is a database of another program`)
  const format = readFormat(database)
  if (format < 1 || format > STORE_FORMAT) {
    throw new StorageError(
      `${path} has the store format ${format}, this version of Keywright reads 1 to ${STORE_FORMAT}`,
    )
  }
  return format
}

/** The last records must be those that the row of `meta` names. The first of a history must continue its id. */
function requireMatchingLog(database: DatabaseSync, path: string, position: Position): void {
  const { index, chain, epoch, historyId } = position
  const rows = database.prepare('SELECT idx, record FROM log ORDER BY idx DESC LIMIT 2').all().reverse()
  const run = rows.map(({ idx, record }) => ({ index: numberOf(idx), record: bytesOf(record) }))
  const changes = decodeRun(run)
  const last = changes.at(-1)
  // A log without records is that of a new store, or of a restored one, which goes on above indexes in use.
  if ((last?.index ?? index) !== index || !(last?.chain ?? historyId).equals(chain)) {
    throw new StorageCorrupt(`${path} is damaged: its log ends at ${last?.index ?? 0}, its state is that of ${index}`)
  }
  const histories = readHistories(database)
  const present = histories.at(-1)
  if (present === undefined || !present.id.equals(historyId) || present.epoch !== epoch) {
    throw new StorageCorrupt(`${path} is damaged: its list of histories does not end with its own`)
  }
  for (const change of changes) requireListed(change, histories, path)
  const [first] = run
  // In format 1 a record did not name the history that it begins.
  const begun = changes[0]?.beginsHistory ?? (first?.index === 1 ? historyId : undefined)
  if (first !== undefined && begun !== undefined && !changes[0]?.chain.equals(nextChain(begun, first.record))) {
    throw new StorageCorrupt(`${path} is damaged: log record ${first.index} does not continue the chain`)
  }
}

function requireListed({ index, beginsHistory }: Change, histories: readonly History[], path: string): void {
  if (beginsHistory === undefined) return
  if (histories.some(({ id, startIndex }) => startIndex === index && id.equals(beginsHistory))) return
  throw new StorageCorrupt(`${path} is damaged: log record ${index} begins a history that is not in its list`)
}
