// Secondaries that asked this primary to hand over, and may have been promoted without its knowledge. The entry of each
// says so from before the secondary hears that it has all, until it is known that it was not promoted: by its own word,
// or because it has got what was written since. A revocation removes the entry. As long as one says so, this cluster
// grants nothing that one in its place would have to count (engines/transit/budget/cluster-ledger.ts).
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import {
  allSecondaries,
  findSecondary,
  putSecondary,
  type SecondaryEntry,
  type SetReader,
  type SetTransaction,
} from './records.ts'

/**
 * Notes that a secondary asked. It must be stored before the secondary hears that it has all. Also where it is noted:
 * so it is in conflict with whoever clears an earlier question at the same time.
 */
export function noteAsked(tx: SetTransaction, family: ReplicationFamily, entry: SecondaryEntry): void {
  putSecondary(tx, family, { ...entry, mayHaveTakenOver: true })
}

/** It was not promoted. */
export async function clearAsked(tx: SetTransaction, family: ReplicationFamily, id: string): Promise<void> {
  const entry = await findSecondary(tx, family, id)
  if (entry?.mayHaveTakenOver) putSecondary(tx, family, { ...entry, mayHaveTakenOver: false })
}

/** Ids of the secondaries of a family that may have been promoted. */
export async function mayHaveTakenOver(tx: SetReader, family: ReplicationFamily): Promise<readonly string[]> {
  const entries = await allSecondaries(tx, family)
  return entries.filter((entry) => entry.state === 'active' && entry.mayHaveTakenOver).map(({ id }) => id)
}
