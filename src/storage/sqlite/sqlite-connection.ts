// Connections that may write. SQLite keeps most settings with the connection and not in the file.
import { DatabaseSync } from 'node:sqlite'

/** How long a connection waits while another recovers or removes the journal, which takes moments. */
export const BUSY_TIMEOUT_MS = 5_000

/** Opens the file; nothing is read or written yet. */
export function openForWriting(path: string): DatabaseSync {
  return new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, defensive: true })
}

/**
 * Makes commits durable (threats P-01). FULL flushes the journal with each commit. The two `fullfsync` matter on macOS,
 * where a plain flush does not reach the device. Checkpoints are made by the backend (sqlite-backend.ts).
 */
export function prepareForWriting(connection: DatabaseSync): void {
  connection.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -32768;
    PRAGMA cell_size_check = ON;
    PRAGMA trusted_schema = OFF`)
}
