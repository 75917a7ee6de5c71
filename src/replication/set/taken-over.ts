// The note that this cluster has taken the place of another, and that what follows from it is not all done. It stands
// in the view of `core/replication/` (records.ts), of class ignored:
//
//   taken-over     written with the promotion, in one step; removed when what it leaves to do is done
//
// So a crash between the two loses nothing: the next start finds the note, and does all of it again.
import { count, flag, otherwise } from '../../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import type { SetReader, SetTransaction } from './records.ts'

const PATH = 'taken-over'

/** The stored form. */
export const TAKEN_OVER = storedRecord('The note of a promotion that is not settled', {
  /** The epoch that the promotion began. */
  epoch: count,
  atMs: count,
  /**
   * True for a cluster that has what is local to the one whose place it took, as it was a while ago. False for one that
   * goes on with its own.
   */
  takesPlace: otherwise(flag, true),
  /**
   * True where the other cluster handed over: what it wrote is all here, and it grants nothing as long as it does not
   * know what became of that (asked-takeover.ts).
   */
  isHandedOver: otherwise(flag, false),
})
/** A promotion that is not settled. */
export type TakenOver = RecordOf<typeof TAKEN_OVER>

/** The promotion that is not settled; undefined if there is none. @throws StorageCorrupt */
export async function readTakenOver(tx: Pick<SetReader, 'get'>): Promise<TakenOver | undefined> {
  const stored = await tx.get(PATH)
  return stored === undefined ? undefined : TAKEN_OVER.decode(stored)
}

/** Notes a promotion, in the transaction that makes it. */
export function putTakenOver(tx: SetTransaction, promotion: TakenOver): void {
  tx.put(PATH, TAKEN_OVER.encode(promotion))
}

/** Removes the note. */
export function clearTakenOver(tx: SetTransaction): void {
  tx.delete(PATH)
}
