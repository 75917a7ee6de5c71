// Starts a server: the thread that writes first, then those that serve. This thread only watches over them.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { newBoardMemory } from './audit/stream-board.ts'
import { cloudReaches, cloudSurroundings } from './cloud-place.ts'
import { factsOf, type ServerConfig } from './config.ts'
import { addressText } from './config-listener.ts'
import { runSelfTests } from './crypto/self-test.ts'
import { devicesOf, startDevices } from './device-host.ts'
import { newSharedFigures } from './http/shared-figures.ts'
import type { Log } from './lib/log.ts'
import { type LogLevels, newLogLevels } from './lib/log-levels.ts'
import { RELOAD_PARTS, ReloadList, type ReloadPart } from './lib/reload.ts'
import { inlineWork } from './lib/slow-work.ts'
import { TurnEnd } from './lib/turn-end.ts'
import type { World } from './lib/world.ts'
import { ListenFailed, requireFreeAddresses, ThreadListeners } from './listening.ts'
import type { ReloadState } from './reload-state.ts'
import { reloadWith } from './reloading.ts'
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
import { ReloadDesk } from './threads/reload-desk.ts'
import { ThreadGroup } from './threads/thread-group.ts'
import { TlsFileError } from './tls-files.ts'
import { TlsState } from './tls-state.ts'
import type { DevelopmentFacts, WriterData, WriterOrder, WriterStarted } from './writer.ts'
import { buildWriterHouse } from './writer-house.ts'

export { StartError }

/** How long a reload waits for a thread that is busy. */
const RELOAD_PATIENCE_MS = 10_000

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
  /** Every thread reads anew what can change while the server runs. False where something goes on as before. */
  reload(): Promise<boolean>
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

/** Everything in one thread; nothing outlives the process. */
async function startInMemory(options: ServerOptions): Promise<RunningServer> {
  const { world, log, config } = options
  const shared = sharedTelemetry(options, 1)
  const cloud = cloudSurroundings(config, process.env)
  const own = threadTelemetry(shared, FIRST_SERVING_ROW, config, undefined, cloudReaches(cloud))
  const turnEnd = new TurnEnd()
  const store = createMemoryStore({ random: world.random, clock: world.clock, onCommitted: commitMeter(shared) })
  const devices = startDevices(config, world, log)
  const house = await buildWriterHouse({
    store,
    world: { ...world, outbound: own.world.outbound },
    slow: inlineWork(world),
    devices: devicesOf(devices.place()),
    log,
    facts: factsOf(config, 'inmem'),
    telemetry: own,
    ...(config.seal === undefined ? {} : { autoSeal: staticSeal(config.seal, process.env) }),
    tokenLimits: config,
    cloud,
    audit: { settings: config.audit },
    turnEnd,
    announce: async () => {},
    configReloads: new Map(RELOAD_PARTS.map((part) => [part, () => reload(part)])),
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
  const reloads = new ReloadList<ReloadState>()
  reloads.add('audit', () => house.audit.reopen())
  const tellOthers = (state: ReloadState, part?: ReloadPart) => reloads.run(state, log, part)
  const reload = reloadWith({ ...options, reread: options.reread, levels: shared.levels, tls, tellOthers })
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
  reloads.add('tls', (state) => listeners.renewTls(state.tls))
  return {
    ...shown(config, listeners.ports),
    development,
    reload: () => reload(),
    stop: async () => {
      tls.stop()
      await listeners.stop()
      sampler.stop()
      await own.flush()
      await house.audit.stop()
      await store.close()
      await devices.stop()
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
  const writer = new Worker(new URL('./writer.ts', import.meta.url), {
    name: 'writer',
    workerData: data,
    transferList: [slow.port, ...(ownDevices === undefined ? [] : [ownDevices.port])],
    stdout: false,
    stderr: false,
  })
  try {
    const development = await writerStarted(writer)
    watchWriter(writer, options.onFatal)
    const reloads = new ReloadDesk<ReloadState>(world.timers, RELOAD_PATIENCE_MS)
    reloads.add(writer, (state) => ({ ...state, tls: [] }))
    const data = { config, world, writer, directory, published, shared, board, reloads }
    const serving = new ServingThreads({ ...data, slow: pool.place, devices: devices.place, tls: () => tls.materials })
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
        await stopWriter(writer)
        await pool.stop()
        await devices.stop()
      },
    }
  } catch (cause) {
    // It would keep the process alive; what it was told to write is written or not, as with a power cut.
    stopping.add(writer)
    await writer.terminate()
    await pool.stop()
    await devices.stop()
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
