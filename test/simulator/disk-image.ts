// What the real store's own checks say of an image: it is laid out in the tables of a database in memory, for the look
// that a start takes, and for the verifier.
import { DatabaseSync } from 'node:sqlite'
import { encodeOrigin } from '../../src/storage/log/change-record.ts'
import { CLASS_NUMBERS } from '../../src/storage/log/leaf.ts'
import type { MemoryTables } from '../../src/storage/memory-tables.ts'
import type { ReplicationFamily } from '../../src/storage/peer-log.ts'
import { makeDerivedTables, makeTables, requireSoundTables } from '../../src/storage/sqlite/sqlite-schema.ts'
import { verifyDatabase } from '../../src/storage/verify/verify.ts'
import type { VerifyKeys } from '../../src/storage/verify-keys.ts'

const NAME = 'The simulated store'

/** Looks at an image as a start does. @throws StorageCorrupt, in a sentence */
export function requireSoundImage(tables: MemoryTables): void {
  withDatabase(tables, (database) => requireSoundTables(database, NAME))
}

/** What the verifier finds in an image; empty where nothing is wrong. */
export function faultsOfImage(tables: MemoryTables, keys: VerifyKeys): string[] {
  const faults: string[] = []
  withDatabase(tables, (database) => verifyDatabase(database, NAME, { keys, onFinding: (fault) => faults.push(fault) }))
  return faults
}

function withDatabase(tables: MemoryTables, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(':memory:')
  try {
    makeTables(database, { index: tables.position.index, histories: tables.histories })
    makeDerivedTables(database)
    database.exec('BEGIN')
    layOutPosition(database, tables)
    layOutTables(database, tables)
    database.exec('COMMIT')
    work(database)
  } finally {
    database.close()
  }
}

function layOutPosition(database: DatabaseSync, tables: MemoryTables): void {
  const { index, chain, epoch, historyId, lastReplicatedIndex, lastLocalIndex, origins } = tables.position
  const columnOf = (family: ReplicationFamily) => {
    const found = origins.find((origin) => origin.family === family)
    return found === undefined ? null : encodeOrigin(found)
  }
  database
    .prepare(
      `UPDATE meta SET last_index = ?, chain = ?, epoch = ?, history_id = ?, first_index = ?, last_replicated = ?,
         last_local = ?, dr_origin = ?, performance_origin = ?`,
    )
    .run(
      index,
      chain,
      epoch,
      historyId,
      tables.firstIndex(),
      lastReplicatedIndex,
      lastLocalIndex,
      columnOf('dr'),
      columnOf('performance'),
    )
}

function layOutTables(database: DatabaseSync, { entries, log, tree, checkpoints, holds, buckets }: MemoryTables): void {
  const into = (table: string, columns: number) =>
    database.prepare(`INSERT INTO ${table} VALUES (${Array(columns).fill('?').join(', ')})`)
  const data = into('data', 4)
  for (const [key, entry] of entries.byKey) data.run(key, CLASS_NUMBERS[entry.class], entry.leaf, entry.value)
  const records = into('log', 2)
  for (const { index, record } of log) records.run(index, record)
  const pages = into('tree', 4)
  for (const page of tree?.pages.values() ?? [])
    pages.run(CLASS_NUMBERS[page.class], page.scope, page.page, page.digests)
  const saves = into('checkpoint', 4)
  const chain = Buffer.concat([tree?.chain ?? Buffer.alloc(0), Buffer.of(tree?.version ?? 0)])
  for (const { index, logBytes, savedAtMs } of checkpoints) saves.run(index, chain, logBytes, savedAtMs)
  const held = into('hold', 3)
  for (const { name, kind, from } of holds) held.run(name, kind, from)
  const rows = into('bucket', 3)
  for (const [at, { key, bucket }] of buckets.entries()) rows.run(at + 1, bucket, key)
}
