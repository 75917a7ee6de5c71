// How far back the log is kept. The limits hold whoever follows: a follower that was away for too long gets HistoryGone
// and starts over. So no follower can fill the device.
import type { Checkpoint } from '../backend.ts'

/** Limits from the configuration. Records beyond either of them are removed. */
export type Retention = { readonly bytes: number; readonly ms: number }

/** 1 GiB and 24 hours. */
export const DEFAULT_RETENTION: Retention = { bytes: 1024 ** 3, ms: 24 * 3_600_000 }
/** Kept whatever the limits say, so that threads of this process need not start over: they are hardly so far behind. */
export const MIN_RECORDS = 10_000

/**
 * The index up to which records may be removed, 0 for none. Only whole spans between two checkpoints are judged.
 * Nothing after the last checkpoint is removed: without it the saved tree could not be brought up to date.
 */
export function forgettableIndex(
  checkpoints: readonly Checkpoint[],
  lastIndex: number,
  nowMs: number,
  { bytes, ms }: Retention,
): number {
  let kept = checkpoints.reduce((sum, { logBytes }) => sum + logBytes, 0)
  let index = 0
  for (const checkpoint of checkpoints) {
    if (checkpoint.index > lastIndex - MIN_RECORDS) break
    if (kept <= bytes && nowMs - checkpoint.savedAtMs <= ms) break
    index = checkpoint.index
    kept -= checkpoint.logBytes
  }
  return index
}

/** The checkpoints worth keeping: those whose records are still there, and the last one, which belongs to the tree. */
export function keptCheckpoints(checkpoints: readonly Checkpoint[], firstIndex: number): Checkpoint[] {
  return checkpoints.filter(({ index }, at) => index >= firstIndex || at === checkpoints.length - 1)
}
