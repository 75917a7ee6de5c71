// The histories of a store, oldest first: each began at a record of the one before it. A restore and a promotion add
// one. From two lists one can tell where two stores parted, so what one of them lacks can be sent to it.
import { StorageRefused } from '../errors.ts'
import type { History, NewHistory, Position } from '../peer-log.ts'

/**
 * A promotion begins at a multiple of this, and a restore right behind one, so indexes of two lines do not meet. A
 * restore skips one multiple more: the replaced store may commit that many changes while the snapshot is staged.
 */
export const INDEX_GAP = 2 ** 20
/** The oldest are dropped beyond this. A store that parted from another there is a stranger to it. */
export const MAX_HISTORIES = 1_024
/** Numbers are exact up to 2^53. A history begins below this index, which leaves it half of them for itself. */
export const MAX_HISTORY_INDEX = 2 ** 52
/** Records hold the epoch in 32 bits (change-record.ts), and each history raises it. */
export const MAX_EPOCH = 2 ** 31

/** Promotions, and half as many restores, that must be left above a place that another cluster or a snapshot names. */
const PROMOTIONS_LEFT = 2 ** 20
/** A log has one index for each commit, so it never gets here by itself: what names more is damaged. */
export const MAX_KNOWN_INDEX = MAX_HISTORY_INDEX - PROMOTIONS_LEFT * INDEX_GAP
/** Likewise for the epoch. */
export const MAX_KNOWN_EPOCH = MAX_EPOCH - PROMOTIONS_LEFT

const U32 = 2 ** 32 - 1

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

/** True if a promotion began the history: a restore begins behind a multiple of the gap, and a new store at 1. */
export function isOfPromotion({ startIndex }: History): boolean {
  return startIndex % INDEX_GAP === 0
}

/** The list with one more history, without the oldest if there are too many. */
export function withHistory(histories: readonly History[], next: History): readonly History[] {
  return [...histories, next].slice(-MAX_HISTORIES)
}

/**
 * What is wrong with a place that another cluster or a snapshot names; undefined if it leaves room for the promotions
 * to come. One that did not would bar them for ever.
 */
export function faultOfKnown({ index, epoch = 0 }: { readonly index: number; readonly epoch?: number }) {
  if (index > MAX_KNOWN_INDEX) return `its index ${index} is higher than any log reaches`
  if (epoch > MAX_KNOWN_EPOCH) return `its epoch ${epoch} is higher than any log reaches`
  return undefined
}

/**
 * The history of a promotion: its place is above everything that is known to be in use.
 * @throws StorageRefused where the numbers end, and for a place that cannot be in use
 */
export function nextHistory(position: Position, { id, knownIndex, knownEpoch }: NewHistory, nowMs: number): History {
  const fault = faultOfKnown({ index: knownIndex, epoch: knownEpoch })
  if (fault !== undefined) throw new StorageRefused(`The place that a member of the set names is damaged: ${fault}`)
  const startIndex = startAbove(Math.max(position.index, knownIndex, ...position.origins.map(({ index }) => index)))
  const epoch = Math.max(position.epoch, knownEpoch) + 1
  if (startIndex > MAX_HISTORY_INDEX || epoch > MAX_EPOCH) {
    throw new StorageRefused(`A history cannot begin at index ${startIndex} in epoch ${epoch}: the numbers end there`)
  }
  const parent = { id: position.historyId, index: position.index, chain: position.chain }
  return { id, epoch, startIndex, parent, startedAtMs: Math.floor(nowMs) }
}

/**
 * The index behind which other data take the place of a store whose highest index in use this is: by a restore, or at
 * an activation. It is the second multiple of the gap above. Followers compare indexes, so none may be used twice; the
 * store that is replaced may commit at least 2^20 changes still.
 */
export const indexOfOtherData = (highest: number): number => (Math.floor(highest / INDEX_GAP) + 2) * INDEX_GAP

/** Where a promotion begins of which nothing is known to be in use above this index. */
export const startAbove = (index: number): number => (Math.floor(index / INDEX_GAP) + 1) * INDEX_GAP

/**
 * True if a record behind `from` is kept no more. The first of a history follows its parent, far below it: who stands
 * at the parent lacks nothing. A log without records holds nothing behind any index but its last.
 */
export function isGone(
  from: number,
  { firstIndex, lastIndex }: { readonly firstIndex: number; readonly lastIndex: number },
  histories: () => readonly History[],
): boolean {
  if (from + 1 >= firstIndex) return false
  if (firstIndex > lastIndex) return true
  const begun = histories().find(({ startIndex }) => startIndex === firstIndex)
  return from < (begun?.parent?.index ?? firstIndex - 1)
}

/** Where two stores parted: the last change that both have, in a history that both have. */
export type CommonAncestor = {
  readonly historyId: Buffer
  /** Undefined if neither has left the history: the one with the smaller index is behind the other. */
  readonly fork: { readonly index: number; readonly chain: Buffer } | undefined
}

/**
 * The newest history that is in both lists, and where they left it: the smaller index of the two that did. Undefined
 * for strangers. Old histories may be missing in either list. Only tests call it as yet: an old primary that
 * joins again will.
 */
export function commonAncestor(ours: readonly History[], theirs: readonly History[]): CommonAncestor | undefined {
  const known = new Map(theirs.map(({ id }, at) => [id.toString('hex'), at]))
  const at = ours.findLastIndex(({ id }) => known.has(id.toString('hex')))
  const shared = ours[at]
  if (shared === undefined) return undefined
  const theirAt = known.get(shared.id.toString('hex')) ?? 0
  const forks = [ours[at + 1]?.parent, theirs[theirAt + 1]?.parent].filter((parent) => parent !== undefined)
  const first = forks.reduce<History['parent']>(
    (least, each) => (least && least.index <= each.index ? least : each),
    undefined,
  )
  return { historyId: shared.id, fork: first && { index: first.index, chain: first.chain } }
}

/** What is wrong with a list, oldest first, as the rest of a sentence; undefined if it is sound. */
export function faultOfHistories(histories: readonly History[]): string | undefined {
  if (histories.length === 0) return 'is empty'
  if (histories.length > MAX_HISTORIES) return `has more than ${MAX_HISTORIES} histories`
  for (const [at, { id, epoch, startIndex, parent }] of histories.entries()) {
    const before = histories[at - 1]
    if (epoch > U32 || !Number.isSafeInteger(startIndex)) return 'has numbers that are too high'
    if (parent !== undefined && parent.index >= startIndex) return 'has a history that begins before its parent'
    if (before === undefined) continue
    if (histories.slice(0, at).some((each) => each.id.equals(id))) return 'has a history twice'
    if (parent === undefined || !parent.id.equals(before.id)) return 'has a history without its parent'
    if (epoch <= before.epoch || startIndex <= before.startIndex) return 'does not grow'
  }
  return undefined
}
