// Starts a server: the thread that writes first, then those that serve. This thread only watches over them.
import { Worker } from 'node:worker_threads'
import { newBoardMemory } from '../audit/stream-board.ts'
import { runSelfTests } from '../crypto/self-test.ts'
import type { ReloadPart } from '../lib/reload.ts'
import { connectPeer } from '../rpc/peer.ts'
import { threadChannel } from '../rpc/ports.ts'
import { storeLocation } from '../storage/drivers.ts'
import { newPublishedIndex } from '../threads/change-follower.ts'
import { faultLog } from '../threads/fault-log.ts'
import { ReloadDesk } from '../threads/reload-desk.ts'
import { exitOf } from '../threads/thread-exit.ts'
import { ThreadGroup } from '../threads/thread-group.ts'
import { startDevices } from './device-host.ts'
import { ListenFailed, requireFreeAddresses } from './listening.ts'
import type { ReloadState } from './reload-state.ts'
import { reloadWith } from './reloading.ts'
import { type RunningServer, type ServerOptions, sharedTelemetry, shown } from './running-server.ts'
import { ServingThreads, servingThreads } from './serving-threads.ts'
import { startSlowPool } from './slow-pool.ts'
import { StartError } from './start-error.ts'
import { WANTED_CALLS, WRITING_CALLS, type WritingPeer } from './thread-calls.ts'
import { TlsFileError } from './tls-files.ts'
import { TlsState } from './tls-state.ts'
import type { DevelopmentFacts, WriterData, WriterStarted } from './writer.ts'

export type { RunningServer, ServerOptions }
export { StartError }

/** @throws StartError */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  runSelfTests()
  const { durable } = storeLocation(options.config.storage)
  try {
    if (durable !== undefined) return await startThreads(options, durable.directory)
    // Only here: it brings all engines with it, which the thread that watches over others has no use for.
    const { startInMemory } = await import('./memory-server.ts')
    return await startInMemory(options)
  } catch (cause) {
    if (cause instanceof ListenFailed || cause instanceof TlsFileError) throw new StartError(cause.message)
    throw cause
  }
}

async function startThreads(options: ServerOptions, directory: string): Promise<RunningServer> {
  const { config, world, log } = options
  const tls = new TlsState(config, world, log)
  const published = newPublishedIndex()
  const shared = sharedTelemetry(options, servingThreads(config))
  const pool = startSlowPool(options)
  const slow = pool.place()
  const devices = startDevices(config, world, log)
  const ownDevices = devices.place()
  const board = newBoardMemory()
  const data: WriterData = {
    config,
    directory,
    published,
    slow,
    devices: ownDevices,
    shared,
    board,
    development: options.development,
  }
  const writer = new Worker(new URL('../start-thread.js', import.meta.url), {
    argv: ['writer'],
    name: 'writer',
    workerData: data,
    transferList: [slow.port, ...(ownDevices === undefined ? [] : [ownDevices.port])],
    stdout: false,
    stderr: false,
  })
  const reloads = new ReloadDesk<ReloadState>(log)
  const writing = connectPeer({
    channel: threadChannel(writer),
    asks: WRITING_CALLS,
    answers: WANTED_CALLS,
    handlers: { reload: (part) => reloads.wanted(part) },
    timers: world.timers,
    onFault: faultLog(log),
  })
  reloads.add(
    (order) => writing.call('reload', order),
    (state) => ({ ...state, tls: [] }),
  )
  const place = { config, world, log, writing, directory, published, shared, board, reloads }
  const serving = new ServingThreads({ ...place, slow: pool.place, devices: devices.place, tls: () => tls.materials })
  const started = writerStarted(writer)
  // Beside the writer, since most of a start is the loading of modules.
  const start = () => serving.start()
  const parts = { count: serving.count, start, clock: world.clock, log, onFatal: options.onFatal }
  const serves = ThreadGroup.start({ kind: 'serving', ...parts })
  // Heard below: that the writer could not start is said first.
  serves.catch(() => {})
  try {
    const development = await started
    watchWriter(writer, options.onFatal)
    // Not before the writer has the store: of two servers at once, the one that looks must not stop the other.
    await requireFreeAddresses({ config, place: serving.firstPlace(), world, log })
    serving.allowListening()
    const group = await serves
    tls.renewTickets((materials) => serving.renewTls(materials))
    const tellOthers = (state: ReloadState, part?: ReloadPart) => serving.reload(state, part)
    const reload = reloadWith({ ...options, reread: options.reread, levels: shared.levels, tls, tellOthers })
    reloads.onWanted = reload
    return {
      ...shown(config, serving.ports),
      development,
      reload: () => reload(),
      stop: async () => {
        tls.stop()
        await group.stop()
        await stopWriter(writer, writing)
        await pool.stop()
        await devices.stop()
      },
    }
  } catch (cause) {
    // It would keep the process alive; what it was told to write is written or not, as with a power cut.
    stopping.add(writer)
    await writer.terminate()
    await serving.abandon()
    await pool.stop()
    await devices.stop()
    throw cause
  }
}

/** Writers that end because they were told to. */
const stopping = new WeakSet<Worker>()

async function stopWriter(writer: Worker, writing: WritingPeer): Promise<void> {
  const ended = exitOf(writer)
  stopping.add(writer)
  writing.tell('stop', undefined)
  await ended
}

function watchWriter(worker: Worker, onFatal: (reason: string) => void): void {
  worker.on('message', (message: { readonly kind: string }) => {
    if (message.kind === 'fatal') onFatal('storage could not make a write durable')
  })
  worker.on('error', (cause) =>
    onFatal(`the writing thread failed: ${cause instanceof Error ? cause.name : 'unknown'}`),
  )
  worker.on('exit', () => {
    if (!stopping.has(worker)) onFatal('the writing thread ended')
  })
}

/** @throws StartError with the writer's own sentence */
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
