// Notes whether the state of the server came from a snapshot. A restored store has a history of its own. The record
// here names the history that audit knows, so the first unseal after a restore finds another one:
//
//   root/core/audit-history   JSON, {"format":1,"history":HEX,"restored":{"at":RFC 3339,"before":PUBLIC KEY}}
//   root/core/audit-origin    the same, as earlier releases stored it
//
// The record is of this store alone, so no other cluster gets it: there it would report a restore that never was.
import { group, orUndefined, text } from '../lib/member-kinds.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'
import type { RestoredState } from './device.ts'

const HISTORY = 'audit-history'
const FORMER = 'audit-origin'

/** The history that audit knows, and the last restore, if there was one. */
export const AUDIT_ORIGIN = storedRecord(
  'The origin of the audited state',
  { history: text, restored: orUndefined(group({ at: text, before: text })) },
  'dropped',
)
type Origin = RecordOf<typeof AUDIT_ORIGIN>

/** Returns the last restore; undefined if there was none. */
export async function readRestored(view: Pick<View, 'get'>): Promise<RestoredState | undefined> {
  return decode(await view.get(HISTORY))?.restored
}

/** Stores the history. `now` returns the facts of a restore; it is called only if one has happened. True if one has. */
export function noteHistory(view: View, history: string, now: () => RestoredState): Promise<boolean> {
  return view.transaction(async (tx) => {
    const known = decode(await tx.get(HISTORY))
    if (known?.history === history) return false
    const earlier = known ?? decode(await tx.get(FORMER))
    const isSame = earlier?.history === history
    const restored = earlier === undefined || isSame ? earlier?.restored : now()
    tx.put(HISTORY, AUDIT_ORIGIN.encode({ history, restored }))
    return restored !== undefined && !isSame
  })
}

/** Removes the record of earlier releases, once `noteHistory` has taken it over. */
export async function removeFormerHistory(tx: ViewTransaction): Promise<void> {
  if ((await tx.get(FORMER)) !== undefined) tx.delete(FORMER)
}

function decode(bytes: Buffer | undefined): Origin | undefined {
  return bytes === undefined ? undefined : AUDIT_ORIGIN.decode(bytes)
}
