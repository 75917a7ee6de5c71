// What a burst of work leaves behind. The runtime keeps the pages of a heap that once was large for the next burst,
// which may not come for days: in all threads together some 100 MiB. So a thread that is idle gives them back. The code
// that was made for the last burst is partly lost with it, and made anew: some 0.3 s of work in the next one.
import { getHeapStatistics } from 'node:v8'
import type { Timer, World } from './world.ts'

/** What is known of the calling thread, and can be done for it. */
export type IdleParts = {
  /** How long it has worked since its start, in milliseconds. */
  readonly workedMs: () => number
  /** What its heap takes of the system. */
  readonly heapBytes: () => number
  readonly collect: () => void
}

/** So long it has had next to nothing to do. */
const LOOK_EVERY_MS = 10_000
const IDLE_SHARE = 0.01
/** Less is not worth the work. */
const LEAST_GROWN_BYTES = 8 << 20
/** The thread stands still for 30 to 100 ms: where it has a little to do all the time, once a minute at most. */
const LEAST_PAUSE_MS = 60_000

/** From time to time the thread looks whether there is something to give back, and whether it is idle. */
export function giveBackWhenIdle({ clock, timers }: Pick<World, 'clock' | 'timers'>, parts = REAL): { stop(): void } {
  if (parts === undefined) return { stop: () => {} }
  const { workedMs, heapBytes, collect } = parts
  let timer: Timer
  /** What was left the last time. */
  let keptBytes = 0
  let notBeforeMs = 0
  const plan = (): void => {
    const [sinceMs, workedBeforeMs] = [clock.monotonicMs(), workedMs()]
    timer = timers.after(LOOK_EVERY_MS, () => {
      const nowMs = clock.monotonicMs()
      const isIdle = workedMs() - workedBeforeMs <= (nowMs - sinceMs) * IDLE_SHARE
      if (isIdle && nowMs >= notBeforeMs && heapBytes() >= keptBytes + LEAST_GROWN_BYTES) {
        collect()
        keptBytes = heapBytes()
        notBeforeMs = nowMs + LEAST_PAUSE_MS
      }
      plan()
    })
  }
  plan()
  return { stop: () => timer.cancel() }
}

/** Undefined where the runtime was started without `--expose-gc`. */
const REAL: IdleParts | undefined = globalThis.gc && {
  workedMs: () => performance.eventLoopUtilization().active,
  heapBytes: () => getHeapStatistics().total_heap_size,
  // A usual collection keeps the pages at hand.
  collect: () => globalThis.gc?.({ flavor: 'last-resort' }),
}
