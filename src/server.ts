// Starts a server: the thread that writes first, then those that serve. This thread only watches over them.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { newBoardMemory } from './audit/stream-board.ts'
import { cloudReaches, cloudSurroundings } from './cloud-place.ts'
import { factsOf, type ServerConfig } from './config.ts'
import { addressText } from './config-listener.ts'
import { runSelfTests } from './crypto/self-test.ts'
import { newSharedFigures } from './http/shared-figures.ts'
import type { Log } from './lib/log.ts'
import { type LogLevels, newLogLevels } from './lib/log-levels.ts'
import { OneAtATime } from './lib/one-at-a-time.ts'
import { ReloadList } from './lib/reload.ts'
import { inlineWork } from './lib/slow-work.ts'
import { TurnEnd } from './lib/turn-end.ts'
import type { World } from './lib/world.ts'
import { ListenFailed, requireFreeAddresses, ThreadListeners } from './listening.ts'
import type { ReloadState } from './reload-state.ts'
import { ServingThreads, servingThreads } from './serving-threads.ts'
import { startSlowPool } from './slow-pool.ts'
import { StartError } from './start-error.ts'
import { staticSeal } from './static-seal.ts'
import { createMemoryStore } from './storage/memory-store.ts'
import { FIRST_SERVING_ROW } from './telemetry/cells.ts'
import {
  commitMeter,
  newSharedTelemetry,
  poolMeter,
  type SharedTelemetry,
  threadTelemetry,
  trafficOf,
  watchThread,
} from './thread-telemetry.ts'
import { newPublishedIndex } from './threads/change-follower.ts'
import { ThreadGroup } from './threads/thread-group.ts'
import { TlsFileError } from './tls-files.ts'
import { TlsState } from './tls-state.ts'
import type { DevelopmentFacts, WriterData, WriterOrder, WriterStarted } from './writer.ts'
import { buildWriterHouse } from './writer-house.ts'

export { StartError }

export type ServerOptions = {
  readonly config: ServerConfig
  readonly world: World
  readonly log: Log
  /** Of all loggers, where the log above has them; missing: those of the configuration. */
  readonly levels?: LogLevels
  readonly development: { readonly rootToken: string | undefined } | undefined
  /** The process cannot go on: storage failed, or the writing thread ended. */
  readonly onFatal: (reason: string) => void
  /** Reads the configuration anew, for a reload. Missing: it stays as it is. @throws what says why it is refused */
  readonly reread?: () => ServerConfig
}

export type RunningServer = {
  /** Of the first listener. */
  readonly address: string
  /** Of all of them, as clients are told. */
  readonly addresses: readonly string[]
  readonly development: DevelopmentFacts | undefined
  /** Every thread reads anew what can change while the server runs: certificates, and what its other parts add. */
  reload(): Promise<void>
  stop(): Promise<void>
}

/** @throws StartError */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  runSelfTests()
  const { storage } = options.config
  try {
    return await (storage.type === 'inmem' ? startInMemory(options) : startThreads(options, storage.directory))
  } catch (cause) {
    if (cause instanceof ListenFailed || cause instanceof TlsFileError) throw new StartError(cause.message)
    throw cause
  }
}

/** For clients; `ports` are those that were found. */
function clientAddresses({ listeners }: ServerConfig, ports: readonly number[]): readonly string[] {
  return listeners.map(({ address, rules }, index) => {
    if (address.kind === 'unix') return addressText(address)
    const scheme = rules.tls === undefined ? 'http' : 'https'
    return `${scheme}://${addressText({ ...address, port: ports[index] ?? address.port })}`
  })
}

function shown(config: ServerConfig, ports: readonly number[]) {
  const addresses = clientAddresses(config, ports)
  return { address: addresses[0] ?? '', addresses }
}

/** What a reload does in this thread, before the others are told; one at a time. */
function reloader(options: ServerOptions, tls: TlsState, tellOthers: (state: ReloadState) => Promise<void> | void) {
  const { log, config, reread } = options
  const inTurn = new OneAtATime()
  const list = new ReloadList<ReloadState>()
  list.add('TLS', () => tls.renew())
  let current = config
  return () =>
    inTurn.run(async () => {
      log('info', 'Reload: asked for')
      try {
        current = reread?.() ?? current
      } catch (cause) {
        // It names the file and the key, and no value.
        const message = cause instanceof Error ? cause.message : 'unknown'
        log('error', `Reload: the configuration is refused, what was read before counts: ${message}`)
      }
      await list.run({ config: current, tls: tls.materials }, log)
      await tellOthers({ config: current, tls: tls.materials })
    })
}

/** Everything in one thread; nothing outlives the process. */
async function startInMemory(options: ServerOptions): Promise<RunningServer> {
  const { world, log, config } = options
  const shared = sharedTelemetry(options, 1)
  const cloud = cloudSurroundings(config, process.env)
  const own = threadTelemetry(shared, FIRST_SERVING_ROW, config, undefined, cloudReaches(cloud))
  const turnEnd = new TurnEnd()
  const store = createMemoryStore({ random: world.random, clock: world.clock, onCommitted: commitMeter(shared) })
  const house = await buildWriterHouse({
    store,
    world: { ...world, outbound: own.world.outbound },
    slow: inlineWork(world),
    log,
    facts: factsOf(config, 'inmem'),
    telemetry: own,
    ...(config.seal === undefined ? {} : { autoSeal: staticSeal(config.seal, process.env) }),
    tokenLimits: config,
    cloud,
    audit: { settings: config.audit },
    turnEnd,
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
  const tls = new TlsState(config, world, log)
  const sampler = watchThread(own, house)
  const handle = house.core.handle.bind(house.core)
  const traffic = trafficOf(own)
  const listeners = await ThreadListeners.start({
    config,
    place: {
      ports: config.listeners.map(({ address }) => (address.kind === 'tcp' ? address.port : 0)),
      sharePorts: false,
      holdsUnixSockets: true,
      figures: newSharedFigures(1, world.random),
      row: 0,
      tls: tls.materials,
    },
    service: { handle, turnEnd, takesStream: house.takesStream, auditedHeaders: house.auditedHeaders, traffic },
    world,
    log,
  })
  tls.renewTickets((materials) => listeners.renewTls(materials))
  const reloads = new ReloadList<ReloadState>()
  reloads.add('TLS', (state) => listeners.renewTls(state.tls))
  reloads.add('audit', () => house.audit.reopen())
  return {
    ...shown(config, listeners.ports),
    development,
    reload: reloader(options, tls, (state) => reloads.run(state, log)),
    stop: async () => {
      tls.stop()
      await listeners.stop()
      sampler.stop()
      await own.flush()
      await house.audit.stop()
      await store.close()
    },
  }
}

function sharedTelemetry({ world, config, levels }: ServerOptions, threads: number): SharedTelemetry {
  return newSharedTelemetry(world.random, levels ?? newLogLevels(config.logging.level), threads)
}

async function startThreads(options: ServerOptions, directory: string): Promise<RunningServer> {
  const { config, world, log } = options
  const tls = new TlsState(config, world, log)
  const published = newPublishedIndex()
  const shared = sharedTelemetry(options, servingThreads(config))
  const pool = startSlowPool({ ...options, meter: poolMeter(shared, world.clock) })
  const slow = pool.place()
  const board = newBoardMemory()
  const data: WriterData = { config, directory, published, slow, shared, board, development: options.development }
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
    const data = { config, world, writer, directory, published, shared, board }
    const serving = new ServingThreads({ ...data, slow: pool.place, tls: () => tls.materials })
    await requireFreeAddresses({ config, place: serving.firstPlace(), world, log })
    const group = await ThreadGroup.start({
      kind: 'serving',
      count: serving.count,
      start: () => serving.start(),
      clock: world.clock,
      log,
      onFatal: options.onFatal,
    })
    tls.renewTickets((materials) => serving.renewTls(materials))
    return {
      ...shown(config, serving.ports),
      development,
      reload: reloader(options, tls, (state) => {
        writer.postMessage({ kind: 'reload', state: { ...state, tls: [] } } satisfies WriterOrder)
        serving.reload(state)
      }),
      stop: async () => {
        tls.stop()
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
