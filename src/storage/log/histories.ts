// The histories of a store, oldest first: each began at a record of the one before it. A restore and a promotion add
// one. From two lists one can tell where two stores parted, so what one of them lacks can be sent to it.
import type { History, Position } from '../contract.ts'

/**
 * A new history begins above a multiple of this, so indexes of two lines do not meet. A restore skips one multiple
 * more: the replaced store may commit that many changes while the snapshot is staged.
 */
export const INDEX_GAP = 2 ** 20
/** The oldest are dropped beyond this. A store that parted from another there is a stranger to it. */
export const MAX_HISTORIES = 1_024
/** Numbers are exact up to 2^53. A history begins below this index, which leaves it half of them for itself. */
export const MAX_HISTORY_INDEX = 2 ** 52
/** Records hold the epoch in 32 bits (change-record.ts), and each history raises it. */
export const MAX_EPOCH = 2 ** 31

/** The history of a store that is made now. */
export function firstHistory(id: Buffer, epoch: number, startedAtMs: number): History {
  return { id, epoch, startIndex: 1, parent: undefined, startedAtMs }
}

/** What is known of the history of a store or snapshot of format 1, which kept no list. */
export function historyOfFormat1(position: Pick<Position, 'index' | 'chain' | 'epoch' | 'historyId'>): History {
  const { index, chain, epoch, historyId } = position
  // A restored store began behind a multiple of the gap. If it has more records than that, this is too late.
  const restoredAt = chain.equals(historyId) ? index + 1 : Math.floor((index - 1) / INDEX_GAP) * INDEX_GAP + 1
  return { id: historyId, epoch, startIndex: epoch === 1 ? 1 : restoredAt, parent: undefined, startedAtMs: 0 }
}

/** The list with one more history, without the oldest if there are too many. */
export function withHistory(histories: readonly History[], next: History): readonly History[] {
  return [...histories, next].slice(-MAX_HISTORIES)
}
