import type { Worker } from 'node:worker_threads'

/** Resolves when the thread has ended, however: `events.once` would reject where it ends by an exception. */
export function exitOf(worker: Pick<Worker, 'once'>): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve())
  })
}
