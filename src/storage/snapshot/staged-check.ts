// The last of a staged snapshot: it is flushed, then read again from the device and checked as a whole. That takes long
// where there is much, and nothing of it needs the thread that writes (threads/staged-check-thread.ts).
import type { KeyObject } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import type { Random } from '../../lib/world.ts'
import { Barrier } from '../barrier.ts'
import { StorageFailed } from '../contract.ts'
import type { Keyring } from '../keyring.ts'
import { bucketKeyOf } from '../log/tree.ts'
import { databasePath, syncDirectory } from '../sqlite/sqlite-files.ts'
import { verifyStore } from '../verify/verify.ts'
import type { VerifyKeys } from '../verify/verify-keys.ts'
import { SnapshotDamaged } from './snapshot-format.ts'

/** Plain data: it goes to another thread. */
export type StagedCheck = {
  readonly folder: string
  /** A history of its own: nobody takes its changes for those that it replaced. */
  readonly index: number
  readonly epoch: number
  readonly entries: number
  readonly replicated: Uint8Array
  readonly local: Uint8Array
  /** Undefined where they cannot be had: then nothing is opened, and the roots are not compared. */
  readonly keys: { readonly keyring: Keyring; readonly leafKey: KeyObject } | undefined
}

/** @throws SnapshotDamaged where it is not what the snapshot says; StorageFailed; an error of SQLite */
export function checkStaged(check: StagedCheck, random: Random): void {
  flush(check)
  const onFinding = (sentence: string): void => {
    throw new SnapshotDamaged(`What was restored is not sound: ${sentence}`)
  }
  const { entries, roots } = verifyStore({ directory: check.folder, keys: keysOf(check, random), onFinding })
  if (entries !== check.entries) throw new SnapshotDamaged(`Of ${check.entries} entries ${entries} were restored`)
  if (roots !== undefined && !(roots.replicated.equals(check.replicated) && roots.local.equals(check.local)))
    throw new SnapshotDamaged('The roots of what was restored are not those of the snapshot')
}

function flush({ folder, index, epoch }: StagedCheck): void {
  const database = new DatabaseSync(databasePath(folder), { defensive: true })
  try {
    database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON')
    // With this frame in its journal the checkpoint flushes the file, what was written before included.
    database.prepare('UPDATE meta SET last_index = ?, epoch = ?').run(index, epoch)
    const { busy } = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
    if (busy !== 0) throw new StorageFailed('The restored database could not be flushed')
  } finally {
    database.close()
  }
  syncDirectory(folder)
}

function keysOf({ keys }: StagedCheck, random: Random): VerifyKeys | undefined {
  if (keys === undefined) return undefined
  const { keyring, leafKey } = keys
  return { barrier: new Barrier(random, keyring), leafKey, bucketKey: bucketKeyOf(leafKey) }
}
