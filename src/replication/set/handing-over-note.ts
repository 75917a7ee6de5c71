// The note that a primary of either family hands over, in the view of `core/replication/` (records.ts), of class
// ignored. While it is there the cluster writes nothing.
//
//   dr/handing-over   written before the secondary hears that the primary drains; removed when the secondary was
//                     promoted, or was not
import { count } from '../../lib/member-kinds.ts'
import { storedRecord } from '../../storage/stored-record.ts'
import { familyParts, type SetReader, type SetTransaction, setPath } from './records.ts'

const PATH = setPath('dr', 'handing-over')

/** The stored form. */
export const HANDING_OVER = storedRecord('The note of a primary that hands over', { sinceMs: count })

/** True for a primary that hands over. */
export async function isHandingOver(tx: SetReader): Promise<boolean> {
  return (await tx.get(PATH)) !== undefined
}

/** Notes it, for a primary. */
export async function noteHandingOver(tx: SetTransaction, nowMs: number): Promise<void> {
  const { dr, performance } = await familyParts(tx)
  if (dr.mode !== 'primary' && performance.mode !== 'primary') return
  tx.put(PATH, HANDING_OVER.encode({ sinceMs: Math.floor(nowMs) }))
}

/** Removes the note. */
export function clearHandingOver(tx: SetTransaction): void {
  tx.delete(PATH)
}
