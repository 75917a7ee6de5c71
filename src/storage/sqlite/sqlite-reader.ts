// Opens the store of a data directory for a thread that only reads, beside the one that writes or not. What writes is
// in sqlite-store.ts, which such a thread does not load.
import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { BackendSnapshot, ReadBackend } from '../backend.ts'
import type { ReadStore } from '../contract.ts'
import { requireDirectory } from '../data-directory.ts'
import { StorageError } from '../errors.ts'
import { BackendReadStore } from '../read-store.ts'
import { readError } from './sqlite-errors.ts'
import { databasePath, requirePlainFiles } from './sqlite-files.ts'
import { requireSoundDatabase } from './sqlite-schema.ts'
import { openReadOnly, openSnapshot, reading, SqliteView } from './sqlite-view.ts'

/** The backend of a thread that only reads. Its connection sees each commit of the writer as soon as it is complete. */
export class SqliteReadBackend implements ReadBackend {
  protected readonly path: string
  protected view: SqliteView
  protected connection: DatabaseSync

  constructor(path: string, connection: DatabaseSync) {
    this.path = path
    this.connection = connection
    this.view = new SqliteView(connection)
  }

  async get(key: string): Promise<Buffer | undefined> {
    return reading(() => this.view.get(key))
  }

  async list(prefix: string, after: string, limit: number): ReturnType<ReadBackend['list']> {
    return reading(() => this.view.list(prefix, after, limit))
  }

  async scan(prefix: string, after: string, limit: number): ReturnType<ReadBackend['scan']> {
    return reading(() => this.view.scan(prefix, after, limit))
  }

  async position(): ReturnType<ReadBackend['position']> {
    return reading(() => this.view.position())
  }

  async histories(): ReturnType<ReadBackend['histories']> {
    return reading(() => this.view.histories())
  }

  async records(index: number, limit: number): ReturnType<ReadBackend['records']> {
    return reading(() => this.view.records(index, limit))
  }

  async snapshot(): Promise<BackendSnapshot> {
    return openSnapshot(this.path)
  }

  async close(): Promise<void> {
    if (this.connection.isOpen) this.connection.close()
  }
}

/** Opens the store for a thread that only reads, beside the writer or not. @throws StorageError if there is no store */
export async function openSqliteReader(directory: string): Promise<ReadStore> {
  requireDirectory(directory)
  requirePlainFiles(directory)
  const path = databasePath(directory)
  if (!existsSync(path)) throw new StorageError(`${path} is missing: there is no store in the directory`)
  const connection = openReadOnly(path)
  try {
    requireSoundDatabase(connection, path)
    return new BackendReadStore(new SqliteReadBackend(path, connection))
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Opens a store that may be damaged: only the files are checked, not their contents. @throws StorageError */
export function openUncheckedReader(directory: string): ReadStore {
  requireDirectory(directory)
  requirePlainFiles(directory)
  const path = databasePath(directory)
  if (!existsSync(path)) throw new StorageError(`${path} is missing: there is no store in the directory`)
  try {
    return new BackendReadStore(new SqliteReadBackend(path, openReadOnly(path)))
  } catch (cause) {
    throw readError(`${path} cannot be read`, cause)
  }
}
