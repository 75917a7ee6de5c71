// How a thread ended, for the thread that started it.
import type { Worker } from 'node:worker_threads'

/** Resolves when the thread has ended, in whatever way: `events.once` would reject if it ends by an exception. */
export function exitOf(worker: Pick<Worker, 'once'>): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve())
  })
}

/** Resolves with the reason when the thread has ended. The reason is the name of the error, without its message. */
export async function endOf(worker: Pick<Worker, 'once' | 'on'>): Promise<string> {
  let reason = 'it ended by itself'
  worker.on('error', (cause) => {
    reason = cause instanceof Error ? cause.name : 'unknown'
  })
  await exitOf(worker)
  return reason
}
