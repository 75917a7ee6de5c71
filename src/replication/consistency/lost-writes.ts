// Tells indexes of writes that were lost. Numbers jump where a history begins: a promotion begins far above all that
// were given, and so does a restore. What lies in such a gap was written to a log that nobody goes on with.
//
//   core/lost-writes    JSON, {"format":1,"gaps":[{"after":N,"before":N},...]}: the gaps in the numbers that the set
//                       goes by, oldest first. The primary notes them before it serves anybody, and all clusters of the
//                       set get them with its log
import { count, group, listOf } from '../../lib/member-kinds.ts'
import type { History } from '../../storage/peer-log.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'

/** The path of the gaps in the folder of the cluster. */
export const LOST_WRITES_PATH = 'lost-writes'
/** The oldest are dropped beyond this: whoever has an index of then has long been told. */
const MAX_GAPS = 256

/** The stored form. */
export const LOST_WRITES = storedRecord('The gaps in the numbers of a set', {
  gaps: listOf(group({ after: count, before: count })),
})

/** Indexes behind `after` and before `before`, without both. */
export type Gap = RecordOf<typeof LOST_WRITES>['gaps'][number]

/** A promotion of this cluster in its set: its history, and up to where the log of the former primary was applied. */
export type SetPromotion = { readonly historyId: Buffer; readonly followed: number | undefined }

/** The gaps in the own numbers of a log. One whose beginning was not noted is none. */
export function gapsOf(histories: readonly History[]): readonly Gap[] {
  return histories.flatMap(({ parent, startIndex }) =>
    parent === undefined ? [] : [{ after: parent.index, before: startIndex }],
  )
}

/**
 * The gaps in the numbers that a set goes by, as far as its primary can tell them by its own log. One that took over
 * from another primary had numbers of its own before, which nobody was told: the set had those of the other one, up to
 * the last change that came from there. What was before that, it has got from the other one.
 */
export function gapsOfSet(histories: readonly History[], promotions: readonly SetPromotion[]): readonly Gap[] {
  for (const { historyId, followed } of promotions.toReversed()) {
    const at = histories.findIndex(({ id }) => id.equals(historyId))
    const begun = histories[at]
    if (begun === undefined || followed === undefined) continue
    return [{ after: followed, before: begun.startIndex }, ...gapsOf(histories.slice(at + 1))]
  }
  return gapsOf(histories)
}

/** The known gaps with those that are new; undefined if none is. */
export function withGaps(known: readonly Gap[], found: readonly Gap[]): readonly Gap[] | undefined {
  const isKnown = ({ after, before }: Gap): boolean =>
    known.some((each) => each.after === after && each.before === before)
  const more = found.filter((gap) => !isKnown(gap))
  return more.length === 0 ? undefined : [...known, ...more].slice(-MAX_GAPS)
}

/** True if the change with this index was lost. */
export function isLost(index: number, gaps: readonly Gap[]): boolean {
  return gaps.some(({ after, before }) => after < index && index < before)
}
