// Up to where a DR secondary has forgotten what a filter keeps from its primary, and what it owes when it stops
// following that one.
import { encodeReach, isTelling, PURGED, readReach, type SetReader, type SetTransaction, setPath } from './records.ts'
import { readTransfer } from './transfer-note.ts'

const PATH = setPath('dr', 'purged')

/** True if the primary has forgotten something that this cluster, its DR secondary, has not. */
export async function owesPurge(tx: SetReader, purgedAt: number): Promise<boolean> {
  const stored = await tx.get(PATH)
  return purgedAt !== 0 && purgedAt !== (stored === undefined ? 0 : PURGED.decode(stored).at)
}

/** It has. */
export function putPurged(tx: SetTransaction, purgedAt: number): void {
  tx.put(PATH, PURGED.encode({ at: purgedAt }))
}

/** True while this DR secondary is compared with its primary. */
export async function isBeingCompared(tx: SetReader): Promise<boolean> {
  return (await readTransfer(tx, 'dr'))?.what === 'difference'
}

/**
 * A cluster that stops being a DR secondary forgets by itself what it still owes: no primary says so any more. In the
 * middle of a comparison it does not know what it owes: something may be removed here that its note does not tell of.
 */
export async function owesPurgeInPlace(tx: SetTransaction): Promise<void> {
  const noted = await readReach(tx)
  const isUnknown = isTelling(noted) && (await isBeingCompared(tx))
  if (isUnknown || (await owesPurge(tx, noted.purgedAt)))
    tx.put(setPath('performance', 'reach'), encodeReach({ ...noted, mustPurge: true }))
}
