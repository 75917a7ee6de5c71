// Loaded first into a test file that runs beside proofs: it takes the processor when these leave it, and so do the
// processes that it starts. JavaScript, so that nothing has types to be taken out of before the file itself is loaded.
import { constants, getPriority, setPriority } from 'node:os'
import { isMainThread } from 'node:worker_threads'

/** A third of the share of others, where both always have work (sched(7)). */
const STEP = 5

try {
  // Its threads begin with what it has, and load this as well.
  if (isMainThread) setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + STEP))
} catch {
  // Where it is not allowed, all are alike.
}
