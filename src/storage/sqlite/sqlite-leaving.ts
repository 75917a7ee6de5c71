// Leaves of the store a few entries, where the data of another cluster are to take the place of its own. All that was
// there goes from the disk: the file with its free pages, the journal, and every copy beside them.
//
//   left.new/keywright.db ─▶ left.new/settled ─▶ renamed over keywright.db ─▶ copies removed ─▶ left.new removed
//
// A crash before the renaming leaves the store as it was, and the next open removes the folder. Behind it the folder
// has its mark and no database: so the next open knows that copies of what was there may be left.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createPrivateFile, syncDirectory } from '../data-directory.ts'
import type { LeftStore } from '../driver.ts'
import { StorageError, StorageFailed } from '../errors.ts'
import { databasePath, dropStaged, leftFolder, stagingFolder } from './sqlite-files.ts'
import { dropKept } from './sqlite-migration.ts'
import { putInPlace, SqliteStaging } from './sqlite-staging.ts'

/** `StoreLocation.leaveOnly` for the store in the directory. @throws StorageError */
export async function leaveOnly(directory: string, left: LeftStore): Promise<void> {
  try {
    await stage(directory, left)
    putInPlace(directory, leftFolder(directory))
    endLeaving(directory)
  } catch (cause) {
    if (cause instanceof StorageError || !(cause instanceof Error)) throw cause
    throw new StorageFailed(`The store in ${directory} could not be emptied: ${cause.message}`, { cause })
  }
}

async function stage(directory: string, { entries, ...at }: LeftStore): Promise<void> {
  const folder = leftFolder(directory)
  dropFolder(folder)
  const staging = new SqliteStaging(directory, folder)
  const writer = await staging.begin()
  try {
    await writer.write(entries)
  } finally {
    await writer.close()
  }
  await staging.settle(at)
  createPrivateFile(markOf(folder))
  syncDirectory(folder)
}

/**
 * Ends what `leaveOnly` has begun, whatever a crash left of it: once its store is in place all copies of the former one
 * are removed. For the process that has the lock, before it opens the store.
 */
export function endLeaving(directory: string): void {
  const folder = leftFolder(directory)
  if (existsSync(markOf(folder)) && !existsSync(databasePath(folder))) {
    dropKept(databasePath(directory))
    dropStaged(stagingFolder(directory))
    syncDirectory(directory)
  }
  dropFolder(folder)
}

const markOf = (folder: string): string => join(folder, 'settled')

/** The mark goes first: without its database it would stand for a store that is in place. */
function dropFolder(folder: string): void {
  rmSync(markOf(folder), { force: true })
  dropStaged(folder)
}
