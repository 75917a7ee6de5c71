// The pool for slow work of this process: as many threads as there are cores, started with the first job.
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Log } from './lib/log.ts'
import type { World } from './lib/world.ts'
import { type Load, newLoad } from './threads/pooled-work.ts'
import { type PoolMeter, SlowPool } from './threads/slow-pool.ts'
import { type GroupThread, ThreadGroup } from './threads/thread-group.ts'

/** What a thread is given to have slow work done. */
export type SlowPlace = { readonly port: MessagePort; readonly load: Load }

export type RunningPool = {
  /** For one more thread; the port is transferred to it. */
  place(): SlowPlace
  stop(): Promise<void>
}

/** Two at least: one is always free of long jobs. */
const LEAST_WORKERS = 2
/** New RSA keys at once: more would take cores away from those who use keys (threats N-14). */
const MOST_LONG = 2
/** At 1.5 ms each, what waits is done within seconds; a new RSA key of 4096 bits takes about one. */
const LIMITS = { short: 2_000, long: 32 }

export function startSlowPool({
  world,
  log,
  onFatal,
  meter,
}: {
  readonly world: World
  readonly log: Log
  readonly onFatal: (reason: string) => void
  readonly meter?: PoolMeter
}): RunningPool {
  const count = Math.max(LEAST_WORKERS, availableParallelism())
  const load = newLoad(count)
  let group: Promise<ThreadGroup> | undefined
  const ports = new Set<MessagePort>()
  const pool = new SlowPool({
    limits: LIMITS,
    longSlots: Math.min(MOST_LONG, count - 1),
    load,
    ...(meter === undefined ? {} : { meter }),
    start: async () => {
      group = ThreadGroup.start({ kind: 'slow', count, start: startWorker, clock: world.clock, log, onFatal })
      await group
    },
  })

  async function startWorker(): Promise<GroupThread> {
    const worker = new Worker(new URL('./slow-worker.ts', import.meta.url), { name: 'slow' })
    let reason = 'it ended by itself'
    worker.on('error', (cause) => {
      reason = cause instanceof Error ? cause.name : 'unknown'
    })
    const leave = pool.addWorker(worker)
    const ended = once(worker, 'exit').then(() => {
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

  return {
    place: () => {
      const { port1, port2 } = new MessageChannel()
      pool.addClient(port1)
      ports.add(port1)
      port1.on('close', () => ports.delete(port1))
      return { port: port2, load }
    },
    stop: async () => {
      for (const port of ports) port.close()
      await (await group)?.stop()
    },
  }
}
