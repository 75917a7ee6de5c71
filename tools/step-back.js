// Loaded first into a test file that runs beside proofs. It lowers the priority of the file and of the processes that
// it starts, so that they take what proofs leave. It is JavaScript, so that no types have to be stripped first.
import { constants, getPriority, setPriority } from 'node:os'
import { isMainThread } from 'node:worker_threads'

/** A third of the share of others, where both always have work (sched(7)). */
const STEP = 5

try {
  // Threads begin with the priority of the process, and load this file as well: they must not lower it again.
  if (isMainThread) setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + STEP))
} catch {
  // If it is not allowed, all have the same priority.
}
