// Starts a server: the thread that writes first, then those that serve. This thread only watches over them.
import { once } from 'node:events'
import { MessageChannel, Worker } from 'node:worker_threads'
import { type BoardMemory, newBoardMemory } from './audit/stream-board.ts'
import { factsOf, type ServerConfig } from './config.ts'
import { runSelfTests } from './crypto/self-test.ts'
import { listen, type Service } from './http/listener.ts'
import type { Log } from './lib/log.ts'
import { inlineWork } from './lib/slow-work.ts'
import type { World } from './lib/world.ts'
import type { ServingData, ServingStarted } from './serving.ts'
import { type SlowPlace, startSlowPool } from './slow-pool.ts'
import { staticSeal } from './static-seal.ts'
import { createMemoryStore } from './storage/memory-store.ts'
import { newPublishedIndex, type PublishedIndex } from './threads/change-follower.ts'
import { type GroupThread, ThreadGroup } from './threads/thread-group.ts'
import type { DevelopmentFacts, WriterData, WriterOrder, WriterStarted } from './writer.ts'
import { buildWriterHouse } from './writer-house.ts'

/** Why a server did not start, in one sentence. */
export class StartError extends Error {
  override name = 'StartError'
}

export type ServerOptions = {
  readonly config: ServerConfig
  readonly world: World
  readonly log: Log
  readonly development: { readonly rootToken: string | undefined } | undefined
  /** The process cannot go on: storage failed, or the writing thread ended. */
  readonly onFatal: (reason: string) => void
}

export type RunningServer = {
  readonly address: string
  readonly development: DevelopmentFacts | undefined
  /** SIGHUP: what may change while it runs is read and opened anew. */
  reload(): void
  stop(): Promise<void>
}

/** Longer than any request takes that was sent whole; container runtimes kill what has not ended after 10 s. */
const STOP_PATIENCE_MS = 5_000

/** @throws StartError */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  runSelfTests()
  const { storage } = options.config
  return storage.type === 'inmem' ? startInMemory(options) : startThreads(options, storage.directory)
}

function addressText({ host }: ServerConfig, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Everything in one thread; nothing outlives the process. */
async function startInMemory(options: ServerOptions): Promise<RunningServer> {
  const { world, log, config } = options
  const store = createMemoryStore({ random: world.random, clock: world.clock })
  const house = await buildWriterHouse({
    store,
    world,
    slow: inlineWork(world),
    log,
    facts: factsOf(config, 'inmem'),
    ...(config.seal === undefined ? {} : { autoSeal: staticSeal(config.seal, process.env) }),
    tokenLimits: config,
    audit: { settings: config.audit },
    announce: async () => {},
  })
  store.onCommit((change) => {
    for (const { key } of change.operations) house.invalidation.changed(key)
  })
  let development: DevelopmentFacts | undefined
  if (options.development !== undefined) {
    const { rootToken } = options.development
    const made = await house.initialise({ shares: 1, threshold: 1 }, '', rootToken === undefined ? {} : { rootToken })
    const share = made.shares[0] as Buffer
    development = { unsealKey: share.toString('base64'), rootToken: made.rootToken }
    await house.operations.unseal(share)
  }
  const address = { host: config.host, port: config.port, share: false }
  const { takesStream, auditedHeaders } = house
  const service = { handle: house.core.handle.bind(house.core), takesStream, auditedHeaders }
  const listener = await listen(address, config.limits, service).catch((cause) => {
    throw listenError(config, (cause as NodeJS.ErrnoException).code)
  })
  return {
    address: addressText(config, listener.port),
    development,
    reload: () => void house.audit.reopen(),
    stop: async () => {
      const patience = world.timers.after(STOP_PATIENCE_MS, () => listener.dropConnections())
      await listener.close()
      patience.cancel()
      await house.audit.stop()
      await store.close()
    },
  }
}

async function startThreads(options: ServerOptions, directory: string): Promise<RunningServer> {
  const { config } = options
  const published = newPublishedIndex()
  const pool = startSlowPool(options)
  const slow = pool.place()
  const board = newBoardMemory()
  const data: WriterData = { config, directory, published, slow, board, development: options.development }
  const writer = new Worker(new URL('./writer.ts', import.meta.url), {
    name: 'writer',
    workerData: data,
    transferList: [slow.port],
    stdout: false,
    stderr: false,
  })
  try {
    const development = await writerStarted(writer)
    watchWriter(writer, options.onFatal)
    // Threads that share a port share it with any process of this user that asks for the same: so ask once alone.
    await requireFreeAddress(config)
    const serving = new Set<Worker>()
    const place = { writer, directory, published, board, serving, slow: pool.place, port: config.port }
    const group = await ThreadGroup.start({
      kind: 'serving',
      count: SHARES_PORTS ? config.threads : 1,
      start: () => startServing(place, config),
      clock: options.world.clock,
      log: options.log,
      onFatal: options.onFatal,
    })
    return {
      address: addressText(config, place.port),
      development,
      reload: () => {
        for (const worker of [writer, ...serving]) worker.postMessage({ kind: 'reload' })
      },
      stop: async () => {
        await group.stop()
        await stopWriter(writer)
        await pool.stop()
      },
    }
  } catch (cause) {
    // It would keep the process alive; what it was told to write is written or not, as with a power cut.
    stopping.add(writer)
    await writer.terminate()
    await pool.stop()
    throw cause
  }
}

/** Where the system spreads the connections of one port over several sockets. */
const SHARES_PORTS = process.platform === 'linux'

/** Answers nobody: its connections are dropped at once. */
const NOBODY: Service = { handle: () => Promise.reject(new Error('closing')), takesStream: () => false }

async function requireFreeAddress(config: ServerConfig): Promise<void> {
  const { host, port, limits } = config
  try {
    const probe = await listen({ host, port, share: false }, limits, NOBODY)
    probe.dropConnections()
    await probe.close()
  } catch (cause) {
    throw listenError(config, (cause as NodeJS.ErrnoException).code)
  }
}

/** `port` is settled by the first thread. */
type Place = {
  readonly writer: Worker
  readonly directory: string
  readonly published: PublishedIndex
  readonly slow: () => SlowPlace
  readonly board: BoardMemory
  /** Those that run now. */
  readonly serving: Set<Worker>
  port: number
}

async function startServing(place: Place, config: ServerConfig): Promise<GroupThread> {
  const { port1, port2 } = new MessageChannel()
  place.writer.postMessage({ kind: 'link', port: port1 } satisfies WriterOrder, [port1])
  const { directory, published, board, serving, port } = place
  const slow = place.slow()
  const sharePort = SHARES_PORTS
  const data: ServingData = { config, directory, published, board, writer: port2, slow, port, sharePort }
  const worker = new Worker(new URL('./serving.ts', import.meta.url), {
    name: 'serving',
    workerData: data,
    transferList: [port2, slow.port],
  })
  let reason = 'it ended by itself'
  worker.on('error', (cause) => {
    reason = cause instanceof Error ? cause.name : 'unknown'
  })
  serving.add(worker)
  const ended = once(worker, 'exit').then(() => {
    serving.delete(worker)
    return reason
  })
  place.port = await servingStarted(worker, ended, config)
  return {
    ended,
    stop: async () => {
      worker.postMessage({ kind: 'stop' })
      await ended
    },
  }
}

function servingStarted(worker: Worker, ended: Promise<string>, config: ServerConfig): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once('message', (message: ServingStarted) => {
      if (message.kind === 'listening') resolve(message.port)
      else
        reject(
          LISTEN_REASONS[message.code] === undefined
            ? new StartError(message.message)
            : listenError(config, message.code),
        )
    })
    void ended.then((reason) => reject(new StartError(`A serving thread ended before it was ready: ${reason}`)))
  })
}

/** Writers that end because they were told to. */
const stopping = new WeakSet<Worker>()

async function stopWriter(writer: Worker): Promise<void> {
  const ended = once(writer, 'exit')
  stopping.add(writer)
  writer.postMessage({ kind: 'stop' } satisfies WriterOrder)
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

const LISTEN_REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program: stop it, or choose another with -dev-listen-address or listener "tcp"',
  EACCES: 'may not be used by this user: choose a port from 1024 on',
  EADDRNOTAVAIL: 'does not belong to this machine',
  ENOTFOUND: 'has a host name that is not known',
}

function listenError({ host, port }: ServerConfig, code = 'unknown'): StartError {
  return new StartError(`The address ${host}:${port} ${LISTEN_REASONS[code] ?? `cannot be listened on (${code})`}`)
}
