// Notes whether the state of the server came from a snapshot. A restored store has a history of its own. The record
// here names the history that audit knows, so the first unseal after a restore finds another one:
//
//   root/core/audit-origin    JSON, {"format":1,"history":HEX,"restored":{"at":RFC 3339,"before":PUBLIC KEY}}
import { group, orUndefined, text } from '../lib/member-kinds.ts'
import type { View } from '../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'
import type { RestoredState } from './device.ts'

const ORIGIN = 'audit-origin'

/** The history that audit knows, and the last restore, if there was one. */
export const AUDIT_ORIGIN = storedRecord(
  'The origin of the audited state',
  { history: text, restored: orUndefined(group({ at: text, before: text })) },
  'dropped',
)
type Origin = RecordOf<typeof AUDIT_ORIGIN>

/** Returns the last restore; undefined if there was none. */
export async function readRestored(view: Pick<View, 'get'>): Promise<RestoredState | undefined> {
  return decode(await view.get(ORIGIN))?.restored
}

/** Stores the history. `now` returns the facts of a restore; it is called only if one has happened. True if one has. */
export function noteHistory(view: View, history: string, now: () => RestoredState): Promise<boolean> {
  return view.transaction(async (tx) => {
    const known = decode(await tx.get(ORIGIN))
    if (known?.history === history) return false
    const restored = known === undefined ? undefined : now()
    tx.put(ORIGIN, AUDIT_ORIGIN.encode({ history, restored }))
    return restored !== undefined
  })
}

function decode(bytes: Buffer | undefined): Origin | undefined {
  return bytes === undefined ? undefined : AUDIT_ORIGIN.decode(bytes)
}
