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
