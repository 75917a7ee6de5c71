// The pool for slow work of this process: as many threads as cores for short jobs, and a few for long ones. Each kind
// is started with its first job.
import { availableParallelism } from 'node:os'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Log } from '../lib/log.ts'
import type { World } from '../lib/world.ts'
import { type Load, newLoad } from '../threads/load.ts'
import type { PoolHandle } from '../threads/pooled-work.ts'
import type { Takes } from '../threads/slow-messages.ts'
import { SlowPool } from '../threads/slow-pool.ts'
import { endOf } from '../threads/thread-exit.ts'
import { type GroupThread, ThreadGroup } from '../threads/thread-group.ts'
import type { SlowWorkerData } from './slow-worker.ts'

/** The pool as the watching thread holds it. */
export type RunningPool = {
  /** Returns the handle for one more thread. Its port is transferred to it. */
  newHandle(): PoolHandle
  stop(): Promise<void>
}

/** New RSA keys made at once: more would take cores away from callers that use keys (threats N-14). */
const MOST_LONG = 2

/** How many threads do jobs of each kind. */
export function workerCounts(cores: number): Readonly<Record<Takes, number>> {
  return { short: cores, long: Math.max(1, Math.min(MOST_LONG, cores - 1)) }
}

/** Makes the pool; no worker is started yet. `onFatal` is called if workers keep dying. */
export function startSlowPool({
  world,
  log,
  onFatal,
}: {
  readonly world: World
  readonly log: Log
  readonly onFatal: (reason: string) => void
}): RunningPool {
  const counts = workerCounts(availableParallelism())
  const load = newLoad(counts.short)
  const groups = new Map<Takes, Promise<ThreadGroup>>()
  const ports = new Set<MessagePort>()
  const pool = new SlowPool({
    load,
    start: async (takes) => {
      const start = () => startWorker(pool, load, takes)
      const group = ThreadGroup.start({ kind: 'slow', count: counts[takes], start, clock: world.clock, log, onFatal })
      groups.set(takes, group)
      await group
    },
  })

  return {
    newHandle: () => {
      const { port1, port2 } = new MessageChannel()
      const seat = pool.addClient(port1)
      ports.add(port1)
      port1.on('close', () => ports.delete(port1))
      return { port: port2, load, seat }
    },
    stop: async () => {
      for (const port of ports) port.close()
      // A group that could not be started has no thread to stop.
      const started = await Promise.allSettled(groups.values())
      await Promise.all(started.map((group) => (group.status === 'fulfilled' ? group.value.stop() : undefined)))
    },
  }
}

async function startWorker(pool: SlowPool, load: Load, takes: Takes): Promise<GroupThread> {
  const workerData: SlowWorkerData = { load }
  const worker = new Worker(new URL('../start-thread.js', import.meta.url), {
    argv: ['slow'],
    name: 'slow',
    workerData,
  })
  const leave = pool.addWorker(worker, takes)
  const ended = endOf(worker).then((reason) => {
    leave()
    return reason
  })
  return {
    ended,
    stop: async () => {
      await worker.terminate()
    },
  }
}
