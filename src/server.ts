// Starts a server: the writing thread first, then this thread, which serves.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ServerConfig } from './config.ts'
import { runSelfTests } from './crypto/self-test.ts'
import { buildHouse, type House } from './house.ts'
import { type Listener, listen, type Service } from './http/listener.ts'
import type { Log } from './lib/log.ts'
import type { World } from './lib/world.ts'
import { createMemoryStore } from './storage/memory-store.ts'
import { ReplaceableReader } from './storage/replaceable-store.ts'
import { openSqliteReader } from './storage/sqlite-store.ts'
import type { SealStatus } from './system/seal.ts'
import { ChangeFollower, newPublishedIndex, type PublishedIndex } from './threads/change-follower.ts'
import { WriterLink } from './threads/writer-link.ts'
import type { DevelopmentFacts, WriterData, WriterStarted } from './writer.ts'
import { buildWriterHouse, type SealNews } from './writer-house.ts'

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
  stop(): Promise<void>
}

const SEALED: SealStatus = {
  initialized: false,
  sealed: true,
  threshold: 0,
  shares: 0,
  progress: 0,
  nonce: '',
  cluster: undefined,
}

/** @throws StartError */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  runSelfTests()
  const { config } = options
  const inner =
    config.storage.type === 'inmem'
      ? await startInMemory(options)
      : await startWithWriter(options, config.storage.directory)
  try {
    const listener = await openListener(config, {
      handle: (request) => inner.house.core.handle(request),
      takesStream: (method, rawPath) => inner.house.takesStream(method, rawPath),
    })
    const host = config.host.includes(':') ? `[${config.host}]` : config.host
    return {
      address: `http://${host}:${listener.port}`,
      development: inner.development,
      stop: async () => {
        await listener.close()
        await inner.stop()
      },
    }
  } catch (cause) {
    await inner.stop()
    throw cause
  }
}

type Inner = { readonly house: House; readonly development: DevelopmentFacts | undefined; stop(): Promise<void> }

/** Everything in one thread; nothing outlives the process. */
async function startInMemory(options: ServerOptions): Promise<Inner> {
  const { world, log, config } = options
  const store = createMemoryStore({ random: world.random, clock: world.clock })
  const house = await buildWriterHouse({
    store,
    world,
    log,
    facts: { reportedVersion: config.reportedVersion, storageType: 'inmem', apiAddress: config.apiAddress },
    tokenLimits: config,
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
  return { house, development, stop: () => store.close() }
}

async function startWithWriter(options: ServerOptions, directory: string): Promise<Inner> {
  const published = newPublishedIndex()
  const data: WriterData = { config: options.config, directory, published, development: options.development }
  const worker = new Worker(new URL('./writer.ts', import.meta.url), { workerData: data, stdout: false, stderr: false })
  try {
    return await serveBeside(worker, published, options, directory)
  } catch (cause) {
    // It would keep the process alive.
    stopping.add(worker)
    await worker.terminate()
    throw cause
  }
}

async function serveBeside(
  worker: Worker,
  published: PublishedIndex,
  { world, log, config, onFatal }: ServerOptions,
  directory: string,
): Promise<Inner> {
  let status = SEALED
  const store = new ReplaceableReader()
  let house: House | undefined
  let news: SealNews | undefined
  const apply = async (told: SealNews): Promise<void> => {
    status = told.status
    if (told.store === 'away') await store.putAway()
    if (told.store === 'back') store.putBack(await openSqliteReader(directory))
    news = told.keyring === undefined && !told.status.sealed ? news : told
    if (house !== undefined) await applyTo(house, told)
  }
  const link = new WriterLink<SealNews>(worker, apply)
  const development = await writerStarted(worker)
  watchWriter(worker, link, onFatal)
  store.putBack(await openSqliteReader(directory))
  let follower: ChangeFollower | undefined
  const serving = buildHouse({
    store,
    world,
    log,
    facts: { reportedVersion: config.reportedVersion, storageType: 'sqlite', apiAddress: config.apiAddress },
    tokenLimits: config,
    sealStatus: () => status,
    forward: (request) => link.forward(request),
    catchUp: () => follower?.catchUp(),
  })
  follower = await ChangeFollower.start(store, serving.invalidation, published)
  house = serving
  if (news !== undefined) await applyTo(serving, news)
  const stop = async (): Promise<void> => {
    stopping.add(worker)
    worker.postMessage({ kind: 'stop' })
    await once(worker, 'exit')
    link.close()
    await store.close()
  }
  return { house: serving, development, stop }
}

async function applyTo(house: House, { status, keyring }: SealNews): Promise<void> {
  if (keyring !== undefined) await house.open(keyring)
  else if (status.sealed) house.close()
}

/** Writers that end because they were told to. */
const stopping = new WeakSet<Worker>()

function watchWriter(worker: Worker, link: WriterLink<SealNews>, onFatal: (reason: string) => void): void {
  worker.on('message', (message: { readonly kind: string }) => {
    if (message.kind === 'fatal') onFatal('storage could not make a write durable')
  })
  worker.on('error', (cause) =>
    onFatal(`the writing thread failed: ${cause instanceof Error ? cause.name : 'unknown'}`),
  )
  worker.on('exit', () => {
    link.close()
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

async function openListener(config: ServerConfig, service: Service): Promise<Listener> {
  try {
    return await listen(config.host, config.port, config.limits, service)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown'
    throw new StartError(
      `The address ${config.host}:${config.port} ${LISTEN_REASONS[code] ?? `cannot be listened on (${code})`}`,
    )
  }
}
