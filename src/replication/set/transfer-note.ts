// What a secondary notes of its copies and comparisons, in the view of `core/replication/` (records.ts): the one that
// is running, the one that is to come first, and where it stood before.
//
//   transfer/dr, performance/transfer   the one that is running; missing: what is here is whole
//   performance/compares                the one that is to come first, since it took the place of another cluster
//   dr/stood                            where a DR secondary stood in the log of a performance set
import { encodeBase64 } from '../../lib/base64.ts'
import { base64, count, group, nullable, oneOf, text } from '../../lib/member-kinds.ts'
import type { Origin, ReplicationFamily } from '../../storage/peer-log.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import { REPLICATION_FAMILIES } from './peer-name.ts'
import { readState, type SetReader, type SetTransaction, setPath } from './records.ts'

/** A copy or a comparison that is running. */
export const TRANSFER_NOTE = storedRecord('A note of a copy from the primary', {
  what: oneOf('copy', 'difference'),
  /** The key behind which a copy goes on. */
  after: text,
})

/**
 * Path of its note. In the family performance a DR secondary has it too: who takes the place of this cluster in the
 * middle of a comparison lacks what no log brings again.
 */
export const transferPath = (family: ReplicationFamily): string =>
  family === 'dr' ? 'transfer/dr' : 'performance/transfer'

/** A comparison that has not begun: all up to the known place is here, so that clients can rely on it until then. */
export const COMPARES = 'performance/compares'

/** The copy or comparison that is noted, or is to come first; undefined: what is here is whole. */
export async function readTransfer(
  tx: Pick<SetReader, 'get'>,
  family: ReplicationFamily,
): Promise<RecordOf<typeof TRANSFER_NOTE> | undefined> {
  const running = await tx.get(transferPath(family))
  const stored = running ?? (family === 'performance' ? await tx.get(COMPARES) : undefined)
  return stored === undefined ? undefined : TRANSFER_NOTE.decode(stored)
}

/** True while a copy or a comparison runs: then what is here is not all up to any place. */
export const isHalf = async (tx: Pick<SetReader, 'get'>, family: ReplicationFamily): Promise<boolean> =>
  (await tx.get(transferPath(family))) !== undefined

/**
 * Where a DR secondary stood in the log of a performance set when its last copy or comparison began. Its primary names
 * no place in that log, and may have less of it: only what its log brings afterwards says where this cluster stands.
 * Null: nowhere.
 */
export const STOOD = storedRecord('Where a DR secondary stood when it was compared', {
  place: nullable(group({ historyId: base64, index: count })),
})

/** Notes where it stands, before a copy or comparison. */
export function putStood(tx: SetTransaction, place: Origin | undefined): void {
  tx.put(setPath('dr', 'stood'), stoodAt(place))
}

const stoodAt = (place: Origin | undefined): Buffer =>
  STOOD.encode({ place: place === undefined ? null : { historyId: encodeBase64(place.historyId), index: place.index } })

/**
 * Who takes the place of a performance secondary compares what it has with the primary of that set. What a comparison
 * brings names no place in the log of that one, so what is here may be newer than the place that is known. The log
 * behind that place would bring back for a while what was made and removed since. `place`: where this cluster stands in
 * that log. To be called before the cluster stops being a DR secondary.
 */
export async function comparesInPlace(tx: SetTransaction, place: Origin | undefined): Promise<void> {
  const state = await readState(tx, 'performance')
  if (state?.mode !== 'secondary') return
  const halves = await Promise.all(REPLICATION_FAMILIES.map((family) => isHalf(tx, family)))
  // What a comparison brought may be less than what was here, and only the log behind it says of which place it is.
  const stood = await tx.get(setPath('dr', 'stood'))
  const isOfBefore = stood?.equals(stoodAt(place)) ?? false
  const path = halves.includes(true) || isOfBefore ? transferPath('performance') : COMPARES
  tx.put(path, TRANSFER_NOTE.encode({ what: 'difference', after: '' }))
}
