// Notes how the state of the server began: a restore and a promotion each begin a history of the store. The record here
// names the history that audit knows, so the first unseal after one finds another:
//
//   root/core/audit-history   JSON, {"format":1,"history":HEX,"restored":{"at":RFC 3339,"before":PUBLIC KEY},
//                             "promoted":{"at":RFC 3339,"epoch":NUMBER}}: of the last of each kind, if there was one
//   root/core/audit-origin    the same, as earlier releases stored it
//
// The record is of this store alone, so no other cluster gets it: there it would report a restore that never was.
import { count, group, orUndefined, text } from '../lib/member-kinds.ts'
import { isOfPromotion } from '../storage/log/histories.ts'
import type { History } from '../storage/peer-log.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'
import type { RestoredState, StateOrigin } from './device.ts'

const HISTORY = 'audit-history'
const FORMER = 'audit-origin'

/** The history that audit knows, the last restore and the last promotion. */
export const AUDIT_ORIGIN = storedRecord(
  'The origin of the audited state',
  {
    history: text,
    restored: orUndefined(group({ at: text, before: text })),
    promoted: orUndefined(group({ at: text, epoch: count })),
  },
  'dropped',
)
type Origin = RecordOf<typeof AUDIT_ORIGIN>

/** Returns the last restore and the last promotion. */
export async function readOrigin(view: Pick<View, 'get'>): Promise<StateOrigin> {
  const { restored, promoted } = decode(await view.get(HISTORY)) ?? {}
  return { restored, promoted }
}

/**
 * Stores the present history, the last of the list. Returns what began since the one that was noted before; nothing if
 * it is the first. `now` returns the facts of a restore; it is called only if one has happened.
 */
export function noteHistory(view: View, histories: readonly History[], now: () => RestoredState): Promise<StateOrigin> {
  const present = histories.at(-1)
  const history = present === undefined ? '' : idOf(present)
  return view.transaction(async (tx) => {
    const known = decode(await tx.get(HISTORY))
    if (known?.history === history) return {}
    const earlier = known ?? decode(await tx.get(FORMER))
    const begun = earlier === undefined ? {} : begunSince(earlier.history, histories, now)
    const { restored = earlier?.restored, promoted = earlier?.promoted } = begun
    tx.put(HISTORY, AUDIT_ORIGIN.encode({ history, restored, promoted }))
    return begun
  })
}

/** A list without the history that was known is that of another store: only a restore brings one. */
function begunSince(known: string, histories: readonly History[], now: () => RestoredState): StateOrigin {
  const at = histories.findIndex((each) => idOf(each) === known)
  if (at === -1) return { restored: now() }
  const begun = histories.slice(at + 1)
  const promotion = begun.findLast(isOfPromotion)
  const isRestored = begun.some((each) => !isOfPromotion(each))
  return {
    restored: isRestored ? now() : undefined,
    promoted: promotion && { at: new Date(promotion.startedAtMs).toISOString(), epoch: promotion.epoch },
  }
}

const idOf = ({ id }: History): string => id.toString('hex')

/** Removes the record of earlier releases, once `noteHistory` has taken it over. */
export async function removeFormerHistory(tx: ViewTransaction): Promise<void> {
  if ((await tx.get(FORMER)) !== undefined) tx.delete(FORMER)
}

function decode(bytes: Buffer | undefined): Origin | undefined {
  return bytes === undefined ? undefined : AUDIT_ORIGIN.decode(bytes)
}
