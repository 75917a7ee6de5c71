// The thread of the links to other clusters, as the watching thread sees it: how it starts, and how it is replaced.
import { MessageChannel, Worker } from 'node:worker_threads'
import type { SharedTelemetry } from '../assembly/shared-telemetry.ts'
import type { ServerConfig } from '../config/config.ts'
import type { Log } from '../lib/log.ts'
import type { World } from '../lib/world.ts'
import { NO_CALLS } from '../rpc/calls.ts'
import { connectPeer } from '../rpc/peer.ts'
import { threadChannel } from '../rpc/ports.ts'
import { clearGauges, LINKING_ROW, rowOf } from '../telemetry/cells.ts'
import type { CommittedIndex } from '../threads/committed-index.ts'
import { faultLog } from '../threads/fault-log.ts'
import { endOf } from '../threads/thread-exit.ts'
import { type GroupThread, ThreadGroup } from '../threads/thread-group.ts'
import type { LinkingData, LinkingStarted } from './linking.ts'
import { StartError } from './start-error.ts'
import { LINKING_CALLS, type WritingPeer } from './thread-calls.ts'

/** The parts that the thread is started with. */
export type LinkThreadParts = {
  readonly config: ServerConfig
  readonly world: World
  readonly log: Log
  readonly writing: WritingPeer
  readonly committed: CommittedIndex
  readonly shared: SharedTelemetry
  readonly onFatal: (reason: string) => void
}

/** How long a thread that died too often is not replaced. A seal may have to wait for the next one meanwhile. */
const REST_MS = 10_000

/**
 * Starts the thread, and replaces it when it dies. Call it when the writing thread has started, which gets its end of
 * the link to each new one. @throws StartError
 */
export function startLinkThread(parts: LinkThreadParts): Promise<ThreadGroup> {
  const { world, log, onFatal } = parts
  // A server goes on without its links: no peer may end it by ending this thread again and again.
  const rest = (): Promise<void> => world.timers.sleep(REST_MS)
  const start = (): Promise<GroupThread> => startOne(parts)
  return ThreadGroup.start({ kind: 'link', count: 1, start, clock: world.clock, log, onFatal, rest })
}

async function startOne({ config, log, writing, committed, shared }: LinkThreadParts): Promise<GroupThread> {
  const { storage, logging } = config
  const { metrics, levels } = shared
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(new URL('../start-thread.js', import.meta.url), {
    argv: ['linking'],
    name: 'linking',
    workerData: {
      config: { storage, logging },
      committed,
      writer: port2,
      shared: { metrics, levels },
    } satisfies LinkingData,
    transferList: [port2],
  })
  const peer = connectPeer({
    channel: threadChannel(worker),
    asks: LINKING_CALLS,
    answers: NO_CALLS,
    handlers: {},
    onFault: faultLog(log),
  })
  const ended = endOf(worker).finally(() => clearGauges(rowOf(metrics, LINKING_ROW)))
  await linkingStarted(worker, ended)
  writing.tell('linkThread', port1)
  return {
    ended,
    stop: async () => {
      peer.tell('stop', undefined)
      await ended
    },
  }
}

/** Resolves when the thread listens to the others. @throws StartError */
function linkingStarted(worker: Worker, ended: Promise<string>): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('message', (_started: LinkingStarted) => resolve())
    // It has heard nothing yet, so the message holds no secret: it says which file of the program is missing or broken.
    const fail = (cause: unknown): void =>
      reject(new StartError(`The link thread failed: ${cause instanceof Error ? cause.message : 'unknown'}`))
    worker.once('error', fail)
    void ended.then((reason) => reject(new StartError(`The link thread ended before it was ready: ${reason}`)))
  })
}
