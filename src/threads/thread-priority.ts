// On the cores that there are, a thread that serves goes before one that does slow work: it has little to do for each
// request, and whoever waits for it waits for a time slice of the other otherwise, some milliseconds.
import { readlinkSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** A third of the share of others, where both always have work (sched(7)). */
const STEP = 5
const LOWEST = constants.priority.PRIORITY_LOW

/** Lowers the priority of the calling thread. Nothing where threads have none of their own, or it is not allowed. */
export function lowerThreadPriority(): void {
  // On Linux alone a thread has an id like a process, and a priority of its own.
  if (process.platform !== 'linux') return
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (Number.isSafeInteger(thread) && thread > 0) setPriority(thread, Math.min(LOWEST, getPriority(thread) + STEP))
  } catch {
    // Without /proc, or under a filter of system calls, all threads stay alike.
  }
}
