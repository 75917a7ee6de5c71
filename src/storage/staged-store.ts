// A snapshot is restored into a database of its own, in a folder of the data directory, and checked there as a whole.
// Only then does it take the place of the old one, by one renaming: what fails before leaves the old one untouched.
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Position, StoredEntry } from './backend.ts'
import type { Barrier } from './barrier.ts'
import { faultOfKey, mayHaveClass } from './classes.ts'
import { MAX_VALUE_BYTES, StorageFailed } from './contract.ts'
import { compareKeys } from './key-order.ts'
import { CLASS_NUMBERS, LEAF_BYTES } from './leaf.ts'
import { SEAL_PATH, SnapshotDamaged, type SnapshotEnd, type SnapshotHeader, sealedEnd } from './snapshot-format.ts'
import type { ReadSnapshot } from './snapshot-stream.ts'
import { isFull, writeError } from './sqlite-errors.ts'
import { databasePath, dropStaged, stagingFolder, syncDirectory } from './sqlite-files.ts'
import { createDatabase } from './sqlite-schema.ts'
import { verifyStore } from './verify.ts'
import { type VerifyKeys, verifyKeysOf } from './verify-keys.ts'

const LEAF_KEY = 'root/core/leaf-key'
const KEYRING = 'root/core/keyring'
/** Without one of these a store cannot be unsealed. */
const NEEDED = ['root/core/cluster', KEYRING, LEAF_KEY, 'root/core/root-key', 'root/core/seal-config']
/**
 * Indexes of another history begin at its second multiple above all that was used when it was staged (replication
 * compares indexes): more is not written in the meantime.
 */
const INDEX_GAP = 2 ** 20

export type StageOptions = {
  readonly directory: string
  /** Of the store that will be replaced. */
  readonly position: Position
  /**
   * Opens the record of the snapshot's keyring; undefined where another cluster made it, whose seal cannot be checked.
   * @throws StorageCorrupt where it does not open
   */
  readonly openKeyring: ((record: Buffer) => Barrier) | undefined
  readonly historyId: Buffer
  /** What the rooms above know of entries. @throws StorageCorrupt for one that they could not use */
  readonly check: (key: string, value: Buffer) => void
}

/** @throws SnapshotDamaged, StorageCorrupt; nothing is left of it then */
export async function stageSnapshot(read: ReadSnapshot, options: StageOptions): Promise<void> {
  dropStaged(options.directory)
  try {
    await stage(read, options)
  } catch (error) {
    dropStaged(options.directory)
    throw isFull(error) ? writeError(error) : error
  }
}

async function stage({ header, chunks }: ReadSnapshot, options: StageOptions): Promise<void> {
  const folder = stagingFolder(options.directory)
  mkdirSync(folder, { mode: 0o700 })
  createDatabase(folder, options.historyId)
  const database = new DatabaseSync(databasePath(folder), { defensive: true })
  const keyRecords = new Map<string, Buffer>()
  let barrier: Barrier | undefined
  let end: SnapshotEnd | undefined
  try {
    // Nothing of it counts before it is flushed as a whole.
    database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -32768; PRAGMA trusted_schema = OFF')
    const writer = new EntryWriter(database, options.check)
    for await (const chunk of chunks) {
      if (chunk.kind === 'entries') {
        writer.write(chunk.entries)
        for (const { key, value } of chunk.entries) if (key === KEYRING || key === LEAF_KEY) keyRecords.set(key, value)
      } else {
        end = chunk.end
        writer.requireComplete()
        barrier = options.openKeyring?.(keyRecords.get(KEYRING) ?? Buffer.alloc(0))
        requireSeal(chunk.end, chunk.hashBefore, barrier)
      }
    }
    writer.requireComplete()
    finish(database, header, options)
  } finally {
    database.close()
  }
  syncDirectory(folder)
  if (end !== undefined) verify(folder, end, keysOf(barrier, keyRecords.get(LEAF_KEY)))
}

/** Takes entries as input like any other (threats D-06). */
class EntryWriter {
  readonly #database: DatabaseSync
  readonly #missing = new Set(NEEDED)
  readonly #check: StageOptions['check']
  #last = ''

  constructor(database: DatabaseSync, check: StageOptions['check']) {
    this.#database = database
    this.#check = check
  }

  write(entries: readonly StoredEntry[]): void {
    const put = this.#database.prepare('INSERT INTO data (key, class, leaf, value) VALUES (?, ?, ?, ?)')
    this.#database.exec('BEGIN')
    for (const entry of entries) {
      this.#requireGood(entry)
      this.#check(entry.key, entry.value)
      put.run(entry.key, CLASS_NUMBERS[entry.class], entry.leaf, entry.value)
      this.#last = entry.key
      this.#missing.delete(entry.key)
    }
    this.#database.exec('COMMIT')
  }

  requireComplete(): void {
    for (const key of this.#missing)
      throw new SnapshotDamaged(`The snapshot lacks ${key}, without which no store opens`)
  }

  #requireGood({ key, class: storageClass, leaf, value }: StoredEntry): void {
    if (faultOfKey(key) !== undefined || !mayHaveClass(key, storageClass)) {
      throw new SnapshotDamaged(`The snapshot holds a key that cannot be stored as ${storageClass}`)
    }
    if (this.#last !== '' && compareKeys(key, this.#last) <= 0) {
      throw new SnapshotDamaged(`The snapshot holds the key ${key} out of order`)
    }
    if (leaf.length !== (storageClass === 'ignored' ? 0 : LEAF_BYTES) || value.length > MAX_VALUE_BYTES) {
      throw new SnapshotDamaged(`The entry ${key} of the snapshot has a leaf or value of a wrong length`)
    }
  }
}

function requireSeal(end: SnapshotEnd, hashBefore: Buffer, barrier: Barrier | undefined): void {
  if (barrier === undefined) return
  if (!barrier.open(SEAL_PATH, end.seal).equals(sealedEnd(hashBefore, end))) {
    throw new SnapshotDamaged('The snapshot is not the one that this cluster sealed')
  }
}

/** A history of its own: nobody takes its changes for those that it replaced. */
function finish(database: DatabaseSync, header: SnapshotHeader, { position }: StageOptions): void {
  const index = (Math.floor(Math.max(position.index, header.index) / INDEX_GAP) + 2) * INDEX_GAP
  const epoch = Math.max(position.epoch, header.epoch) + 1
  database.prepare('UPDATE meta SET last_index = ?, epoch = ?').run(index, epoch)
  database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON')
  const { busy } = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
  if (busy !== 0) throw new StorageFailed('The restored database could not be flushed')
}

function keysOf(barrier: Barrier | undefined, leafKeyRecord: Buffer | undefined): VerifyKeys | undefined {
  if (barrier === undefined || leafKeyRecord === undefined) return undefined
  const leafKey = barrier.open(LEAF_KEY, leafKeyRecord)
  const keys = verifyKeysOf(barrier, leafKey)
  leafKey.fill(0)
  return keys
}

/** Read again from the device, not from what was written. */
function verify(folder: string, end: SnapshotEnd, keys: VerifyKeys | undefined): void {
  const onFinding = (sentence: string): void => {
    throw new SnapshotDamaged(`What was restored is not sound: ${sentence}`)
  }
  const { entries, roots } = verifyStore({ directory: folder, keys, onFinding })
  if (entries !== end.entries) throw new SnapshotDamaged(`Of ${end.entries} entries ${entries} were restored`)
  if (roots !== undefined && !(roots.replicated.equals(end.replicated) && roots.local.equals(end.local))) {
    throw new SnapshotDamaged('The roots of what was restored are not those of the snapshot')
  }
}

/** The staged store becomes the store. Nothing may have the old one open. @throws StorageFailed, the old one stays */
export function adoptStaged(directory: string): void {
  const path = databasePath(directory)
  const journal = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (journal !== undefined && journal.size > 0)
    throw new StorageFailed(`${path}-wal holds commits: the store is in use`)
  if (!existsSync(databasePath(stagingFolder(directory))))
    throw new StorageFailed('There is no restored store to adopt')
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  renameSync(databasePath(stagingFolder(directory)), path)
  syncDirectory(directory)
  dropStaged(directory)
}
