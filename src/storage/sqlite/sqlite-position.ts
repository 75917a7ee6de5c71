// The row of `meta` and the table of histories: where the store stands. Format 1 had no list, and a shorter row. What
// it lacks is made up here, for readers and for the migration alike.
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { HISTORY_ID_BYTES } from '../backend.ts'
import { StorageCorrupt } from '../errors.ts'
import { CHAIN_BYTES, decodeOrigin, encodeOrigin, NO_ORIGINS } from '../log/change-record.ts'
import { historyOfFormat1, MAX_HISTORIES } from '../log/histories.ts'
import type { Move } from '../log/move.ts'
import type { History, Origin, Position, ReplicationFamily } from '../peer-log.ts'
import { bytesOf, numberOf } from './sqlite-columns.ts'

/** The format that the file states, unchecked. */
export function readFormat(database: DatabaseSync): number {
  return numberOf(database.prepare('PRAGMA user_version').get()?.user_version)
}

/** The statement that `readPosition` runs. */
export function preparePosition(database: DatabaseSync): StatementSync {
  if (readFormat(database) > 1) return database.prepare('SELECT * FROM meta')
  return database.prepare(
    `SELECT history_id, epoch, last_index, chain, last_index AS last_replicated, last_index AS last_local,
       NULL AS dr_origin, NULL AS performance_origin FROM meta`,
  )
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
  return {
    index: numberOf(row.last_index),
    chain,
    epoch: numberOf(row.epoch),
    historyId,
    lastReplicatedIndex: numberOf(row.last_replicated),
    lastLocalIndex: numberOf(row.last_local),
    origins: originsOf(row),
  }
}

function originsOf(row: Record<string, unknown>): readonly Origin[] {
  if (row.dr_origin === null && row.performance_origin === null) return NO_ORIGINS
  const origin = (family: ReplicationFamily, column: unknown): Origin[] =>
    column === null ? [] : [decodeOrigin(family, bytesOf(column), `origin in the family ${family}`)]
  return [...origin('dr', row.dr_origin), ...origin('performance', row.performance_origin)]
}

/** Index of the oldest record that the log must have; undefined in format 1, which did not note it. */
export function readFirstIndex(database: DatabaseSync): number | undefined {
  if (readFormat(database) === 1) return undefined
  return numberOf(database.prepare('SELECT first_index FROM meta').get()?.first_index)
}

/** Reads the list of histories, oldest first. @throws StorageCorrupt */
export function readHistories(database: DatabaseSync): readonly History[] {
  if (readFormat(database) === 1) return [historyOfFormat1(readPosition(preparePosition(database)))]
  return database.prepare('SELECT * FROM history ORDER BY start_index').all().map(historyOf)
}

function historyOf(row: Record<string, unknown>): History {
  const { start_index, parent_id, parent_index, parent_chain, started_at } = row
  return {
    id: bytesOf(row.id),
    epoch: numberOf(row.epoch),
    startIndex: numberOf(start_index),
    parent:
      parent_id === null
        ? undefined
        : { id: bytesOf(parent_id), index: numberOf(parent_index), chain: bytesOf(parent_chain) },
    startedAtMs: numberOf(started_at),
  }
}

/** Where a store without a log begins: the last of the histories is its present one. */
export type Beginning = { readonly index: number; readonly histories: readonly History[] }

/** Writes the row of a store that has no record yet, and its histories. */
export function insertMeta(database: DatabaseSync, { index, histories }: Beginning): void {
  const present = histories.at(-1)
  if (present === undefined) throw new StorageCorrupt('A store has a history')
  database.exec('DELETE FROM meta; DELETE FROM history')
  database
    .prepare('INSERT INTO meta VALUES (1, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)')
    .run(present.id, present.epoch, index, present.id, index + 1, index, index)
  const add = prepareAddHistory(database)
  for (const history of histories) addHistory(add, history)
}

/** The statement that `addHistory` runs. */
export function prepareAddHistory(database: DatabaseSync): StatementSync {
  return database.prepare('INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?)')
}

/** Adds a history to the table. */
export function addHistory(statement: StatementSync, history: History): void {
  const { id, epoch, startIndex, parent, startedAtMs } = history
  statement.run(startIndex, id, epoch, parent?.id ?? null, parent?.index ?? null, parent?.chain ?? null, startedAtMs)
}

/** The columns of both families; null where there is no origin. */
function columnsOf(origins: readonly Origin[]): (Buffer | null)[] {
  return (['dr', 'performance'] as const).map((family) => {
    const found = origins.find((each) => each.family === family)
    return found === undefined ? null : encodeOrigin(found)
  })
}

/** The statements that move the position on, within the transaction of the changes. */
export class PositionMover {
  readonly #move: StatementSync
  readonly #moveOrigins: StatementSync
  readonly #add: StatementSync
  readonly #dropOldest: StatementSync

  constructor(database: DatabaseSync) {
    this.#move = database.prepare(
      `UPDATE meta SET last_index = ?, chain = ?, epoch = ?, history_id = coalesce(?, history_id),
         last_replicated = coalesce(?, last_replicated), last_local = coalesce(?, last_local),
         dr_origin = coalesce(?, dr_origin), performance_origin = coalesce(?, performance_origin)
       WHERE last_index = ?`,
    )
    this.#moveOrigins = database.prepare(
      'UPDATE meta SET dr_origin = coalesce(?, dr_origin), performance_origin = coalesce(?, performance_origin)',
    )
    this.#add = prepareAddHistory(database)
    this.#dropOldest = database.prepare(
      `DELETE FROM history WHERE start_index NOT IN
         (SELECT start_index FROM history ORDER BY start_index DESC LIMIT ${MAX_HISTORIES})`,
    )
  }

  /** False if the store is not where the move begins. */
  move(move: Move): boolean {
    const { changes } = this.#move.run(
      move.index,
      move.chain,
      move.epoch,
      move.historyId ?? null,
      move.lastReplicatedIndex ?? null,
      move.lastLocalIndex ?? null,
      ...columnsOf(move.origins),
      move.from,
    )
    return changes === 1
  }

  /** Moves origins on without a change. */
  moveOrigins(origins: readonly Origin[]): void {
    this.#moveOrigins.run(...columnsOf(origins))
  }

  /** Adds a history to the list, and drops the oldest of too many. */
  begin(history: History): void {
    addHistory(this.#add, history)
    this.#dropOldest.run()
  }
}
