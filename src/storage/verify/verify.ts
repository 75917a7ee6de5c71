// Checks everything about a store that can be checked, in bounded memory and without changing it. A server may be
// running. Each fault is one sentence that names the entry or the record.
//
//   journal ─▶ format, position ─▶ SQLite's own check ─▶ saved tree ─▶ log ─▶ entries ─▶ both trees compared
import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { requireDirectory } from '../data-directory.ts'
import type { StoreVerifyOptions, StoreVerifyReport } from '../driver.ts'
import { StorageError } from '../errors.ts'
import { Tree } from '../log/tree.ts'
import type { Position } from '../peer-log.ts'
import { LatestOperations } from '../sqlite/latest-operations.ts'
import { numberOf } from '../sqlite/sqlite-columns.ts'
import { readSavedTree } from '../sqlite/sqlite-derived.ts'
import { readError } from '../sqlite/sqlite-errors.ts'
import { databasePath, isInUse, requirePlainFiles } from '../sqlite/sqlite-files.ts'
import { requireSoundJournal } from '../sqlite/sqlite-journal.ts'
import { preparePosition, readFirstIndex, readPosition } from '../sqlite/sqlite-position.ts'
import { requireOurFormat } from '../sqlite/sqlite-schema.ts'
import { openReadOnly } from '../sqlite/sqlite-view.ts'
import { EntryVerifier } from './verify-entries.ts'
import { verifyHistories } from './verify-histories.ts'
import { LogVerifier } from './verify-log.ts'
import { compareTrees, verifySavedTree } from './verify-tree.ts'

/** `directory` is that of the store. */
type Options = StoreVerifyOptions & { readonly directory: string }

/** Entries or records between two reports of progress. */
const PROGRESS_EVERY = 500
const MAX_FAULTS_OF_THE_FILE = 100

/** Checks the store synchronously. @throws StorageError if there is none, or one of another program or format */
export function verifyStore(options: Options): StoreVerifyReport {
  const { directory } = options
  requireDirectory(directory)
  requirePlainFiles(directory)
  const path = databasePath(directory)
  if (!existsSync(path)) throw new StorageError(`${path} is missing: there is no store in the directory`)
  const run = new Run(options)
  // A running server would write to the journal while it is read.
  if (isInUse(directory)) run.unchecked.push('The journal beside the database: a server has the store open')
  else run.attempt(() => requireSoundJournal(path))
  const database = openReadOnly(path)
  try {
    return run.all(database, path)
  } finally {
    database.close()
  }
}

/** Checks a database that is open, without a look at its files; `name` names it. Throws as `verifyStore` does. */
export function verifyDatabase(database: DatabaseSync, name: string, options: StoreVerifyOptions): StoreVerifyReport {
  return new Run(options).all(database, name)
}

/** One check of one store. */
class Run {
  readonly unchecked: string[] = []
  readonly #options: StoreVerifyOptions
  /** The tree of the entries that were read. */
  readonly #rebuilt = new Tree()
  #findings = 0
  #progress = { entries: 0, allEntries: 0, records: 0, allRecords: 0 }

  constructor(options: StoreVerifyOptions) {
    this.#options = options
  }

  all(database: DatabaseSync, path: string): StoreVerifyReport {
    const position = this.attempt(() => {
      // One read transaction for all that follows: a server may go on writing.
      database.exec('BEGIN')
      requireOurFormat(database, path)
      return readPosition(preparePosition(database))
    }, isAnotherProgram)
    this.#verifyFile(database)
    if (position !== undefined) this.#verifyTables(database, position)
    const { entries, records } = this.#progress
    return {
      index: position?.index ?? 0,
      entries,
      records,
      findings: this.#findings,
      roots: this.#options.keys && this.#rebuilt.roots(),
      unchecked: this.unchecked,
    }
  }

  /**
   * Runs a part of the check. A StorageError is damage and becomes a finding; the check goes on with the next part.
   * `mayPass` picks errors that mean that nothing can be checked: they are thrown on.
   */
  attempt<T>(work: () => T, mayPass: (error: StorageError) => boolean = () => false): T | undefined {
    try {
      return work()
    } catch (cause) {
      const error = readError('The database file cannot be read', cause)
      if (!(error instanceof StorageError) || mayPass(error)) throw error
      this.#found(error.message)
      return undefined
    }
  }

  readonly #found = (sentence: string): void => {
    this.#findings++
    this.#options.onFinding(sentence)
  }

  #verifyFile(database: DatabaseSync): void {
    this.attempt(() => {
      const faults = database.prepare(`PRAGMA integrity_check(${MAX_FAULTS_OF_THE_FILE})`).all()
      for (const { integrity_check: fault } of faults) {
        if (fault !== 'ok') this.#found(`The database file is damaged: ${String(fault)}`)
      }
    })
  }

  #verifyTables(database: DatabaseSync, position: Position): void {
    const { keys, onEntry } = this.#options
    this.attempt(() => this.#count(database))
    const saved = this.attempt(() => verifySavedTree(readSavedTreeIfAny(database), position, this.#found))
    const histories = this.attempt(() => verifyHistories(database, position, this.#found)) ?? []
    const firstKept = this.attempt(() => readFirstIndex(database))
    const latest = new LatestOperations()
    const expected = new Tree()
    for (const page of saved?.pages ?? []) expected.load(page)
    const log = new LogVerifier({
      position,
      histories,
      firstKept,
      saved,
      keys,
      latest,
      tree: expected,
      found: this.#found,
    })
    const entries = new EntryVerifier({ keys, latest, log, tree: this.#rebuilt, found: this.#found, onEntry })
    try {
      const hasReadLog = this.attempt(() => {
        log.run(database, () => this.#step('records'))
        return true
      })
      const hasReadData = this.attempt(() => {
        entries.run(database, () => this.#step('entries'))
        return true
      })
      this.#sayUnchecked(log)
      if (keys !== undefined && hasReadLog === true && hasReadData === true && log.canJudgeTree) {
        this.attempt(() => compareTrees(database, { expected, rebuilt: this.#rebuilt, keys, found: this.#found }))
      }
    } finally {
      latest.close()
      this.#options.onProgress?.(this.#progress)
    }
  }

  #sayUnchecked(log: LogVerifier): void {
    if (this.#options.keys === undefined) {
      this.unchecked.push('Whether the values open, their leaves, and the tree: no unseal key was given')
    } else if (!log.canJudgeTree) {
      this.unchecked.push('The tree: the log cannot be read on from where the tree was saved')
    }
    if (log.firstIndex > 1) {
      this.unchecked.push(
        `The log before record ${log.firstIndex}, which is no longer kept: what was written last before it`,
      )
    }
  }

  #count(database: DatabaseSync): void {
    const count = (table: string) => numberOf(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows)
    this.#progress.allEntries = count('data')
    this.#progress.allRecords = count('log')
  }

  #step(what: 'entries' | 'records'): void {
    this.#progress[what]++
    if (this.#progress[what] % PROGRESS_EVERY === 0) this.#options.onProgress?.(this.#progress)
  }
}

/** True if the store is not of this program or format: it cannot be judged, so that is no finding. */
function isAnotherProgram(error: StorageError): boolean {
  return error.name === 'StorageError' && error.cause === undefined
}

/** A store of the first days has no such tables. */
function readSavedTreeIfAny(database: DatabaseSync): ReturnType<typeof readSavedTree> {
  const table = database.prepare("SELECT name FROM sqlite_schema WHERE name = 'checkpoint'").get()
  return table === undefined ? undefined : readSavedTree(database)
}
