import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Timers } from '../../src/lib/world.ts'
import { type Backend, HISTORY_ID_BYTES } from '../../src/storage/backend.ts'
import { openStore } from '../../src/storage/commit/transactional-store.ts'
import { STORAGE_DRIVERS, storageIn } from '../../src/storage/drivers.ts'
import { CLASS_NUMBERS } from '../../src/storage/log/leaf.ts'
import { emptyTables, MemoryBackend } from '../../src/storage/memory-backend.ts'
import type { MemoryTables } from '../../src/storage/memory-tables.ts'
import { databasePath } from '../../src/storage/sqlite/sqlite-files.ts'
import { openSqliteBackend } from '../../src/storage/sqlite/sqlite-store.ts'
import { pseudoRandom } from '../fixtures/pseudo-random.ts'
import { openSimulatedBackend, storeDisk } from '../simulator/simulated-backend.ts'
import { delayedBackend } from './delayed-backend.ts'
import { type DriverSetup, driverConformance } from './driver.ts'
import { SeededRandom } from './seeded-random.ts'
import { type Place, storageConformance } from './storage.ts'
import { historyConformance } from './storage-histories.ts'

type Wrap = (backend: Backend, random: SeededRandom) => Backend
type Tampered = Parameters<Place['tamper']>[1]
const asItIs: Wrap = (backend) => backend

function memoryPlace(wrap: Wrap, seed: number): Place {
  const random = new SeededRandom(seed)
  const tables = emptyTables(random.bytes(HISTORY_ID_BYTES))
  const backend = new MemoryBackend(tables)
  return {
    open: (options, interpose) => openStore(interpose(wrap(backend, random)), options),
    tamper: (key, entry) => tamperWith(tables, key, entry),
    discard: async () => {},
  }
}

function sqlitePlace(wrap: Wrap, seed: number): Place {
  const random = new SeededRandom(seed)
  const directory = mkdtempSync(join(tmpdir(), 'keywright-storage-'))
  return {
    open: (options, interpose) => openStore(interpose(wrap(openSqliteBackend(directory, random), random)), options),
    tamper: (key, entry) => tamperWithFile(databasePath(directory), key, entry),
    discard: async () => rmSync(directory, { recursive: true }),
  }
}

function tamperWith({ entries }: MemoryTables, key: string, entry: Tampered): void {
  if (entry === undefined) entries.remove(key)
  else entries.set(key, entry)
}

function tamperWithFile(path: string, key: string, entry: Tampered): void {
  const database = new DatabaseSync(path)
  database.prepare('DELETE FROM data WHERE key = ?').run(key)
  const put = database.prepare('INSERT INTO data (key, class, leaf, value) VALUES (?, ?, ?, ?)')
  if (entry !== undefined) put.run(key, CLASS_NUMBERS[entry.class], entry.leaf, entry.value)
  database.close()
}

/** Each sync takes a turn of the loop, or two. */
const loopTimers: Pick<Timers, 'after'> = {
  after: (delay, work) => {
    const handle = setImmediate(() => (delay > 0 ? setImmediate(work) : work()))
    return { cancel: () => clearImmediate(handle) }
  },
}

function simulatedDisk(seed: number): Place {
  const random = new SeededRandom(seed)
  const options = { random: pseudoRandom(seed), timers: loopTimers, syncMs: [0, 0, 1] }
  const disk = storeDisk({ tables: emptyTables(random.bytes(HISTORY_ID_BYTES)) }, options)
  return {
    open: (options, interpose) => openStore(interpose(openSimulatedBackend(disk)), options),
    tamper: (key, entry) => tamperWith(disk.content.tables, key, entry),
    discard: async () => {},
  }
}

historyConformance('memory', () => memoryPlace(asItIs, 1))
historyConformance('memory with delays', () => memoryPlace(delayedBackend, 1))
historyConformance('simulated disk', () => simulatedDisk(1))
historyConformance('sqlite', () => sqlitePlace(asItIs, 1))
historyConformance('sqlite with delays', () => sqlitePlace(delayedBackend, 1))
storageConformance('memory', (seed) => memoryPlace(asItIs, seed))
storageConformance('memory with delays', (seed) => memoryPlace(delayedBackend, seed))
storageConformance('simulated disk', simulatedDisk)
storageConformance('sqlite', (seed) => sqlitePlace(asItIs, seed))
storageConformance('sqlite with delays', (seed) => sqlitePlace(delayedBackend, seed))

/** How a new place of each kind is had. */
const PLACES: Readonly<Record<string, () => DriverSetup>> = {
  sqlite: () => {
    const parent = mkdtempSync(join(tmpdir(), 'keywright-driver-'))
    return { config: storageIn(join(parent, 'data')), discard: async () => rmSync(parent, { recursive: true }) }
  },
  inmem: () => ({ config: { type: 'inmem' }, discard: async () => {} }),
}

for (const { type } of STORAGE_DRIVERS) {
  driverConformance(type, PLACES[type] ?? (() => assert.fail(`nobody says where a store of ${type} can be made`)))
}

test('no two drivers have one name', () => {
  const names = STORAGE_DRIVERS.map(({ type }) => type)
  assert.deepEqual([...new Set(names)], names)
})
