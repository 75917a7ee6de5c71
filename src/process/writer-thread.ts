// The writing thread, as the watching thread sees it: how it starts, what it is asked, how it ends.
import { Worker } from 'node:worker_threads'
import type { Log } from '../lib/log.ts'
import type { ReloadPart } from '../lib/reload.ts'
import type { Timers } from '../lib/world.ts'
import { connectPeer } from '../rpc/peer.ts'
import { threadChannel } from '../rpc/ports.ts'
import { faultLog } from '../threads/fault-log.ts'
import { exitOf } from '../threads/thread-exit.ts'
import { StartError } from './start-error.ts'
import { WANTED_CALLS, WRITING_CALLS, type WritingPeer } from './thread-calls.ts'
import type { DevelopmentFacts, WriterData, WriterStarted } from './writer.ts'

/** The parts that the thread is started with. */
export type WriterThreadParts = {
  readonly data: WriterData
  readonly timers: Timers
  readonly log: Log
  /** Called when the thread asks for a reload of one part of the configuration. */
  readonly onReloadWanted: (part: ReloadPart) => Promise<boolean>
}

/** The one writing thread. It is not replaced when it ends: the process ends with it. */
export class WriterThread {
  readonly peer: WritingPeer
  /** Resolves when the store is open. Rejects with a StartError in the thread's own sentence if it cannot be opened. */
  readonly started: Promise<DevelopmentFacts | undefined>
  readonly #worker: Worker
  #isStopping = false

  constructor({ data, timers, log, onReloadWanted }: WriterThreadParts) {
    const { slow, devices } = data
    this.#worker = new Worker(new URL('../start-thread.js', import.meta.url), {
      argv: ['writer'],
      name: 'writer',
      workerData: data,
      transferList: [slow.port, ...(devices === undefined ? [] : [devices.port])],
      stdout: false,
      stderr: false,
    })
    this.peer = connectPeer({
      channel: threadChannel(this.#worker),
      asks: WRITING_CALLS,
      answers: WANTED_CALLS,
      handlers: { reload: onReloadWanted },
      timers,
      onFault: faultLog(log),
    })
    this.started = writerStarted(this.#worker)
  }

  /** Watches the thread; called once it has started. If it ends, the process cannot go on. */
  watch(onFatal: (reason: string) => void): void {
    this.#worker.on('message', (message: { readonly kind: string }) => {
      if (message.kind === 'fatal') onFatal('storage could not make a write durable')
    })
    this.#worker.on('error', (cause) =>
      onFatal(`the writing thread failed: ${cause instanceof Error ? cause.name : 'unknown'}`),
    )
    this.#worker.on('exit', () => {
      if (!this.#isStopping) onFatal('the writing thread ended')
    })
  }

  /** Lets the thread finish; resolves when it has ended. */
  async stop(): Promise<void> {
    const ended = exitOf(this.#worker)
    this.#isStopping = true
    this.peer.tell('stop', undefined)
    await ended
  }

  /** Ends the thread at once. A write under way is done or not, as with a power cut. */
  async abandon(): Promise<void> {
    this.#isStopping = true
    await this.#worker.terminate()
  }
}

/** Waits for the first message. @throws StartError with the thread's own sentence */
function writerStarted(worker: Worker): Promise<DevelopmentFacts | undefined> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: WriterStarted): void => {
      if (message.kind === 'started') settle(() => resolve(message.development))
      else if (message.kind === 'failed') refuse(message.message)
    }
    const onError = (cause: unknown): void =>
      refuse(`The writing thread failed: ${cause instanceof Error ? cause.message : 'unknown'}`)
    const onExit = (): void => refuse('The writing thread ended before it was ready')
    const refuse = (sentence: string): void => settle(() => reject(new StartError(sentence)))
    const settle = (how: () => void): void => {
      worker.off('message', onMessage)
      worker.off('error', onError)
      worker.off('exit', onExit)
      how()
    }
    worker.on('message', onMessage)
    worker.on('error', onError)
    worker.on('exit', onExit)
  })
}
