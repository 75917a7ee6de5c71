// Tells indexes of writes that were lost. Numbers jump where a history begins: a promotion begins far above all that
// were given, and so does a restore. What lies in such a gap was written to a log that nobody goes on with.
import { isOfPromotion } from '../../storage/log/histories.ts'
import type { History, Origin } from '../../storage/peer-log.ts'

/** Indexes behind `after` and before `before`, without both. */
export type Gap = { readonly after: number; readonly before: number }

/** The gaps in the own numbers of a log. One whose beginning was not noted is none. */
export function gapsOf(histories: readonly History[]): readonly Gap[] {
  return histories.flatMap(({ parent, startIndex }) =>
    parent === undefined ? [] : [{ after: parent.index, before: startIndex }],
  )
}

/**
 * The gaps in the numbers that a set goes by, on its primary. One that took over from another primary had numbers of
 * its own before, which nobody was told: the set had those of the other one, up to the last change that came from
 * there (`origins`).
 */
export function gapsOfSet(histories: readonly History[], origins: readonly Origin[]): readonly Gap[] {
  const after = Math.max(0, ...origins.map(({ index }) => index))
  const at = histories.findIndex((history) => isOfPromotion(history) && history.startIndex > after)
  const takenOver = histories[at]
  if (after === 0 || takenOver === undefined) return gapsOf(histories)
  return [{ after, before: takenOver.startIndex }, ...gapsOf(histories.slice(at + 1))]
}

/** True if the change with this index was lost. */
export function isLost(index: number, gaps: readonly Gap[]): boolean {
  return gaps.some(({ after, before }) => after < index && index < before)
}
