// Priorities of threads. If cores are short, a serving thread goes before one that does slow work. It has little to do
// for each request, and its callers would otherwise wait for a time slice of the other, some milliseconds.
import { readlinkSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** A worker then gets a third of the share of another thread, if both always have work (sched(7)). */
const STEP = 5
const LOWEST = constants.priority.PRIORITY_LOW

/**
 * Lowers the priority of the calling thread. Does nothing if threads have no priority of their own, or it is not
 * allowed.
 */
export function lowerThreadPriority(): void {
  // Only Linux gives a thread an id like a process, and a priority of its own.
  if (process.platform !== 'linux') return
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (Number.isSafeInteger(thread) && thread > 0) setPriority(thread, Math.min(LOWEST, getPriority(thread) + STEP))
  } catch {
    // Without /proc, or under a filter of system calls, all threads keep the same priority.
  }
}
