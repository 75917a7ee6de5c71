import type { Worker } from 'node:worker_threads'

/** Resolves when the thread has ended, however: `events.once` would reject where it ends by an exception. */
export function exitOf(worker: Pick<Worker, 'once'>): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve())
  })
}

/** The same, with the reason as far as it is known. */
export async function endOf(worker: Pick<Worker, 'once' | 'on'>): Promise<string> {
  let reason = 'it ended by itself'
  worker.on('error', (cause) => {
    reason = cause instanceof Error ? cause.name : 'unknown'
  })
  await exitOf(worker)
  return reason
}
