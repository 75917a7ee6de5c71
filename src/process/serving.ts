// A thread that serves: it has the store open for reading, its own caches and its own socket on the common port.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { assembleNode } from '../assembly/node.ts'
import type { SealNews } from '../assembly/seal-news.ts'
import { factsOf } from '../assembly/server-facts.ts'
import type { SharedTelemetry } from '../assembly/shared-telemetry.ts'
import type { BoardMemory } from '../audit/stream-board.ts'
import type { ServerConfig } from '../config/config.ts'
import { cloudEnvironment } from '../engines/cloud/settings.ts'
import { ReloadList } from '../lib/reload.ts'
import { TurnEnd } from '../lib/turn-end.ts'
import { connectPeer } from '../rpc/peer.ts'
import { portChannel } from '../rpc/ports.ts'
import { durableLocation } from '../storage/drivers.ts'
import { ReplaceableReader } from '../storage/replaceable-store.ts'
import type { SealStatus } from '../system/seal/seal.ts'
import { ChangeFollower, type PublishedIndex } from '../threads/change-follower.ts'
import { EarlyOrders } from '../threads/early-orders.ts'
import { faultLog } from '../threads/fault-log.ts'
import { PooledWork, type SlowPlace } from '../threads/pooled-work.ts'
import { WriterLink } from '../threads/writer-link.ts'
import { type DevicePlace, devicesOf } from './device-host.ts'
import { ListenFailed, type ListenPlace, ThreadListeners } from './listening.ts'
import type { ReloadState } from './reload-state.ts'
import { ServingState } from './serving-state.ts'
import { askFlights, SERVING_CALLS, WATCHER_CALLS } from './thread-calls.ts'
import { poolMeterOf, type ThreadTelemetry, threadTelemetry, trafficOf, watchThread } from './thread-telemetry.ts'

export type ServingData = {
  readonly config: ServerConfig
  readonly directory: string
  readonly published: PublishedIndex
  readonly slow: SlowPlace
  readonly devices: DevicePlace | undefined
  readonly board: BoardMemory
  readonly writer: MessagePort
  readonly shared: SharedTelemetry
  /** This thread's, of the shared numbers. */
  readonly metricRow: number
  readonly place: ListenPlace
  /** What the other threads were told last; undefined: nothing since the start. */
  readonly reloaded: ReloadState | undefined
}

/** What the starting thread is told. */
export type ServingStarted =
  | { readonly kind: 'listening'; readonly ports: readonly number[] }
  /** `address` where it is that which cannot be listened on. */
  | { readonly kind: 'failed'; readonly address: string | undefined; readonly code: string; readonly message: string }

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

async function start(parent: MessagePort, data: ServingData): Promise<void> {
  const { config } = data
  const own: ThreadTelemetry = threadTelemetry(data.shared, data.metricRow, config, () => askFlights(watcher))
  const orders = new EarlyOrders()
  const watcher = connectPeer({
    channel: portChannel(parent),
    asks: WATCHER_CALLS,
    answers: SERVING_CALLS,
    handlers: {
      flights: () => own.telemetry.ownFlights(),
      reload: ({ state, part }) => orders.run(() => reloads.run(state, log, part)),
      renewTls: (tls) => void orders.run(() => listeners.renewTls(tls)),
      stop: () => void orders.run(stop),
    },
    onFault: faultLog(own.log),
  })
  const { world, log } = own
  let status = UNKNOWN
  const turnEnd = new TurnEnd()
  const store = new ReplaceableReader()
  let follower: ChangeFollower | undefined
  const house = await assembleNode({
    role: 'serving',
    store,
    world,
    slow: new PooledWork(data.slow, { meter: poolMeterOf(own) }),
    devices: devicesOf(data.devices),
    log,
    directory: data.directory,
    facts: factsOf(config),
    telemetry: own,
    tokenLimits: config,
    // It says what comes from the environment, and asks nobody.
    cloud: { environment: cloudEnvironment(process.env), clouds: [] },
    audit: { board: data.board },
    turnEnd,
    channels: {
      sealStatus: () => status,
      forward: (request) => link.forward(request),
      ask: (mount, question) => link.ask(mount, question),
      catchUp: () => follower?.catchUp(),
    },
  })
  const state = new ServingState({
    store,
    gate: house.gate,
    openStore: () => durableLocation(config.storage).openReader(),
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
  const takeOver = (news: SealNews): Promise<void> => {
    status = news.status
    return state.take(news)
  }
  const link = new WriterLink<SealNews>(data.writer, takeOver, log)
  await state.ready
  const reloads = new ReloadList<ReloadState>()
  if (data.reloaded !== undefined) await reloads.run(data.reloaded, log)
  const listeners = await ThreadListeners.start({
    config,
    place: data.place,
    service: {
      handle: (request) => house.core.handle(request),
      turnEnd,
      takesStream: house.takesStream,
      hasLiveToken: (headers, remoteAddress) => house.core.hasLiveToken(headers, remoteAddress),
      auditedHeaders: house.auditedHeaders,
      passedHeaders: () => house.mounts.passedHeaders,
      traffic: trafficOf(own),
    },
    world,
    log,
  })
  watchThread(own, house)
  reloads.add('audit', () => house.audit.reopen())
  reloads.add('tls', (reloaded) => listeners.renewTls(reloaded.tls))
  const stop = (): void => {
    void listeners
      .stop()
      .then(() => own.flush())
      .then(() => house.audit.stop())
      .then(() => store.close())
      .finally(() => process.exit(0))
  }
  orders.begin()
  parent.postMessage({ kind: 'listening', ports: listeners.ports } satisfies ServingStarted)
}

if (parentPort !== null) {
  const parent = parentPort
  start(parent, workerData as ServingData).catch((cause: unknown) => {
    const { code = 'unknown', message = '' } = cause as NodeJS.ErrnoException
    const address = cause instanceof ListenFailed ? cause.address : undefined
    parent.postMessage({ kind: 'failed', address, code, message } satisfies ServingStarted)
  })
}
