// The notes of copies and comparisons that run, as the stores of simulated clusters have them.
import { REPLICATION_FAMILIES } from '../../../src/replication/set/peer-name.ts'
import { SETS_FOLDER } from '../../../src/replication/set/records.ts'
import { COMPARES, transferPath } from '../../../src/replication/set/transfer-note.ts'
import type { ReadStore } from '../../../src/storage/contract.ts'
import type { ReplicationFamily } from '../../../src/storage/peer-log.ts'

/** The stored key of the note. */
export const noteKey = (family: ReplicationFamily): string => SETS_FOLDER + transferPath(family)

/** True unless what the cluster has is that of the place that it knows. */
export async function isOpenIn(store: Pick<ReadStore, 'get'>, family: ReplicationFamily): Promise<boolean> {
  const keys = family === 'performance' ? [noteKey(family), SETS_FOLDER + COMPARES] : [noteKey(family)]
  for (const key of keys) if ((await store.get(key)) !== undefined) return true
  return false
}

/** The families of which a copy or a comparison runs. */
export async function notesIn(store: Pick<ReadStore, 'get'>): Promise<readonly ReplicationFamily[]> {
  const found: ReplicationFamily[] = []
  for (const family of REPLICATION_FAMILIES) if ((await store.get(noteKey(family))) !== undefined) found.push(family)
  return found
}
