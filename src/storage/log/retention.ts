// How far back the log is kept. The limits hold for any follower: one that was away for too long gets HistoryGone and
// starts over. So no follower can fill the device. While others are known to need records, these stay longer, under
// limits of their own.
import type { Checkpoint } from '../backend.ts'
import type { HoldCaps, LogHold } from '../peer-log.ts'

/** Limits from the configuration. Records beyond either of them are removed, unless they are held. */
export type Retention = { readonly bytes: number; readonly ms: number }

/** 1 GiB and 24 hours. */
export const DEFAULT_RETENTION: Retention = { bytes: 1024 ** 3, ms: 24 * 3_600_000 }
/** Kept whatever the limits say, so that threads of this process need not start over: they are hardly so far behind. */
export const MIN_RECORDS = 10_000

/** The most that holds keep where the configuration does not say: 10 GiB. */
export const MAX_DEFAULT_HELD_BYTES = 10 * 1024 ** 3
/** On a small file system they keep this part of it at most. */
const DEFAULT_HELD_PART = 10
/** Default where the log is in memory, or the size of the file system is not known. */
export const DEFAULT_HOLD_CAPS: HoldCaps = { secondary: MAX_DEFAULT_HELD_BYTES, copy: MAX_DEFAULT_HELD_BYTES }

/** What each kind of hold may keep on a file system of this size: 10 GiB or a tenth, whichever is less. */
export function defaultHeldBytes(fileSystemBytes: number): number {
  return Math.min(MAX_DEFAULT_HELD_BYTES, Math.floor(fileSystemBytes / DEFAULT_HELD_PART))
}

/** What decides how far back the log is kept. */
export type LogLimits = { readonly retention: Retention; readonly holds: readonly LogHold[]; readonly caps: HoldCaps }

/**
 * The index up to which records may be removed, 0 for none, at most `spareIndex`. Only whole spans between two
 * checkpoints are judged. Nothing after the last checkpoint is removed: without it the saved tree could not be brought
 * up to date.
 */
export function forgettableIndex(
  checkpoints: readonly Checkpoint[],
  spareIndex: number,
  nowMs: number,
  { retention, holds, caps }: LogLimits,
): number {
  let kept = checkpoints.reduce((sum, { logBytes }) => sum + logBytes, 0)
  let index = 0
  for (const checkpoint of checkpoints) {
    if (checkpoint.index > spareIndex) break
    if (kept <= retention.bytes && nowMs - checkpoint.savedAtMs <= retention.ms) break
    if (holds.some(({ kind, from }) => from < checkpoint.index && kept <= caps[kind])) break
    index = checkpoint.index
    kept -= checkpoint.logBytes
  }
  return index
}

/** The checkpoints worth keeping: those whose records are still there, and the last one, which belongs to the tree. */
export function keptCheckpoints(checkpoints: readonly Checkpoint[], firstIndex: number): Checkpoint[] {
  return checkpoints.filter(({ index }, at) => index >= firstIndex || at === checkpoints.length - 1)
}

/** A log as its status tells of it. `tailBytes`: of the records behind the last checkpoint. */
export type LogEnds = { readonly firstIndex: number; readonly lastIndex: number; readonly tailBytes: number }

/**
 * Tells for an index how many bytes of retained records follow it, without reading any. It is exact at a checkpoint.
 * Inside a span all records count as equally long, so it is wrong by one span at most: there, and for a log of whose
 * oldest span a part is gone.
 */
export function retainedAfter(
  checkpoints: readonly Checkpoint[],
  { firstIndex, lastIndex, tailBytes }: LogEnds,
): (from: number) => number {
  // The log may have grown since its end was asked for.
  const tail = { index: Math.max(lastIndex, checkpoints.at(-1)?.index ?? 0), logBytes: tailBytes }
  const kept = [...checkpoints.filter(({ index }) => index >= firstIndex), tail]
  const before = checkpoints.findLast(({ index }) => index < firstIndex)?.index ?? firstIndex - 1
  const starts = kept.map((_, at) => kept[at - 1]?.index ?? before)
  const following = new Array<number>(kept.length).fill(0)
  for (let at = kept.length - 2; at >= 0; at--) following[at] = (following[at + 1] ?? 0) + (kept[at + 1]?.logBytes ?? 0)
  return (from) => {
    const after = Math.max(from, firstIndex - 1)
    const at = spanBehind(kept, after)
    const span = kept[at]
    if (span === undefined) return 0
    const start = starts[at] ?? 0
    const part = (span.index - after) / (span.index - start)
    return (following[at] ?? 0) + Math.round(span.logBytes * Math.min(part, 1))
  }
}

/** The place of the first span that ends behind the index; the number of spans if there is none. */
function spanBehind(spans: readonly Pick<Checkpoint, 'index'>[], index: number): number {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((spans[middle]?.index ?? 0) > index) high = middle
    else low = middle + 1
  }
  return low
}
