// A thread that serves: it has the store open for reading, its own caches and its own socket on the common port.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { BoardMemory } from './audit/stream-board.ts'
import { factsOf, type ServerConfig } from './config.ts'
import { buildHouse, type House } from './house.ts'
import { listen } from './http/listener.ts'
import { logTo } from './lib/log-writer.ts'
import { realWorld } from './lib/world.ts'
import type { SealNews } from './opening.ts'
import { ServingState } from './serving-state.ts'
import type { SlowPlace } from './slow-pool.ts'
import { ReplaceableReader } from './storage/replaceable-store.ts'
import { openSqliteReader } from './storage/sqlite-store.ts'
import type { SealStatus } from './system/seal.ts'
import { ChangeFollower, type PublishedIndex } from './threads/change-follower.ts'
import { PooledWork } from './threads/pooled-work.ts'
import { WriterLink } from './threads/writer-link.ts'

export type ServingData = {
  readonly config: ServerConfig
  readonly directory: string
  readonly published: PublishedIndex
  readonly slow: SlowPlace
  readonly board: BoardMemory
  readonly writer: MessagePort
  /** Several threads listen on one port; the first takes any where the configuration says 0. */
  readonly port: number
  readonly sharePort: boolean
}

/** What the starting thread is told. */
export type ServingStarted =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }

const UNKNOWN: SealStatus = {
  type: 'shamir',
  initialized: false,
  sealed: true,
  threshold: 0,
  shares: 0,
  progress: 0,
  nonce: '',
  cluster: undefined,
}

/** Longer than any request takes that was sent whole; container runtimes kill what has not ended after 10 s. */
const STOP_PATIENCE_MS = 5_000

async function start(parent: MessagePort, data: ServingData): Promise<void> {
  const world = realWorld()
  const { config } = data
  let status = UNKNOWN
  const log = logTo(process.stderr, world.clock)
  const store = new ReplaceableReader()
  let follower: ChangeFollower | undefined
  const house: House = buildHouse({
    store,
    world,
    slow: new PooledWork(data.slow.port, data.slow.load),
    log,
    facts: factsOf(config, 'sqlite'),
    tokenLimits: config,
    audit: { board: data.board, thread: 'serving' },
    sealStatus: () => status,
    forward: (request) => link.forward(request),
    catchUp: () => follower?.catchUp(),
  })
  const state = new ServingState({
    store,
    house,
    openStore: () => openSqliteReader(data.directory),
    onStore: async () => {
      if (follower === undefined) follower = await ChangeFollower.start(store, house.invalidation, data.published)
      else await follower.restart()
    },
    onLost: (cause) => {
      // Another thread takes its place.
      log('error', 'A serving thread could not open the restored store', { cause: String(cause) })
      process.exit(1)
    },
  })
  const link = new WriterLink<SealNews>(data.writer, (news) => {
    status = news.status
    return state.take(news)
  })
  await state.ready
  const address = { host: config.host, port: data.port, share: data.sharePort }
  const listener = await listen(address, config.limits, {
    handle: (request) => house.core.handle(request),
    takesStream: house.takesStream,
    auditedHeaders: house.auditedHeaders,
  })
  parent.on('message', (message: { readonly kind: string }) => {
    if (message.kind === 'reload') void house.audit.reopen()
    if (message.kind !== 'stop') return
    const patience = world.timers.after(STOP_PATIENCE_MS, () => listener.dropConnections())
    void listener
      .close()
      .then(() => patience.cancel())
      .then(() => house.audit.stop())
      .then(() => store.close())
      .finally(() => process.exit(0))
  })
  parent.postMessage({ kind: 'listening', port: listener.port } satisfies ServingStarted)
}

if (parentPort !== null) {
  const parent = parentPort
  start(parent, workerData as ServingData).catch((cause: unknown) => {
    const { code = 'unknown', message = '' } = cause as NodeJS.ErrnoException
    parent.postMessage({ kind: 'failed', code, message } satisfies ServingStarted)
  })
}
