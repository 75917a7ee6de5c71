// A thread of the pool for slow work: it has no store, no socket and no cache, only the jobs.
import { parentPort, workerData } from 'node:worker_threads'
import { SLOW_JOBS } from '../crypto/slow-jobs.ts'
import { realWorld } from '../lib/world.ts'
import type { Load } from '../threads/load.ts'
import { serveSlowWork } from '../threads/slow-worker.ts'
import { lowerThreadPriority } from '../threads/thread-priority.ts'

/** Data that the watching thread hands to it; everything else comes with the jobs. */
export type SlowWorkerData = { readonly load: Load }

if (parentPort !== null) {
  lowerThreadPriority()
  serveSlowWork(parentPort, SLOW_JOBS, realWorld(), (workerData as SlowWorkerData).load)
}
