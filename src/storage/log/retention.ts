// How far back the log is kept. The caps win over every reader: one that was away for too long gets HistoryGone and
// starts anew, so that none of them can fill the device.
import type { Checkpoint } from '../backend.ts'

/** From the configuration: what is beyond one of the two goes. */
export type Retention = { readonly bytes: number; readonly ms: number }

export const DEFAULT_RETENTION: Retention = { bytes: 1024 ** 3, ms: 24 * 3_600_000 }
/** Kept whatever the caps say: the threads of this process follow the log, and are never so far behind. */
export const MIN_RECORDS = 10_000

/**
 * The index up to which records may go, 0 for none. Only whole spans between two checkpoints are judged, and nothing
 * behind the last checkpoint goes: the tree could not be brought up to date without it.
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

/** The last one stands for the tree; of the others those that still have records. */
export function keptCheckpoints(checkpoints: readonly Checkpoint[], firstIndex: number): Checkpoint[] {
  return checkpoints.filter(({ index }, at) => index >= firstIndex || at === checkpoints.length - 1)
}
