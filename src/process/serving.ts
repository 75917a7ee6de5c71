// A serving thread. It has the store open for reading, its own caches, and its own socket on the shared port.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type SealState, UNTOLD_ROLE } from '../assembly/seal-state.ts'
import { assembleServing, type ServingNode } from '../assembly/serving-node.ts'
import type { SharedTelemetry } from '../assembly/shared-telemetry.ts'
import type { ChainHeadsMemory } from '../audit/chain-heads.ts'
import type { ServerConfig } from '../config/config.ts'
import { cloudEnvironment } from '../engines/cloud/settings.ts'
import { EndOfTickQueue } from '../lib/end-of-tick-queue.ts'
import { connectPeer } from '../rpc/peer.ts'
import { portChannel } from '../rpc/ports.ts'
import { ReplaceableReader } from '../storage/replaceable-store.ts'
import type { SealStatus } from '../system/seal/seal.ts'
import { ChangeFollower, type PublishedIndex } from '../threads/change-follower.ts'
import { CommittedFollower, type CommittedIndex } from '../threads/committed-index.ts'
import { EarlyOrders } from '../threads/early-orders.ts'
import { faultLog } from '../threads/fault-log.ts'
import { PooledWork, type PoolHandle } from '../threads/pooled-work.ts'
import { WriterLink } from '../threads/writer-link.ts'
import type { DeviceHandle } from './device-handle.ts'
import { ListenFailed } from './free-addresses.ts'
import { type ListenerAssignment, ThreadListeners } from './listening.ts'
import type { ReloadState } from './reload-state.ts'
import { ServingState } from './serving-state.ts'
import { openReadingStore } from './stores.ts'
import { askInFlight, SERVING_CALLS, WATCHER_CALLS } from './thread-calls.ts'
import { closeNode, commonParts, reloadsOf, serviceOf } from './thread-node.ts'
import { poolMeterOf, type ThreadTelemetry, threadTelemetry, watchThread } from './thread-telemetry.ts'

/** Data that the watching thread hands to a serving thread. */
export type ServingData = {
  readonly config: ServerConfig
  readonly directory: string
  readonly published: PublishedIndex
  readonly committed: CommittedIndex
  readonly slow: PoolHandle
  readonly devices: DeviceHandle | undefined
  readonly chainHeads: ChainHeadsMemory
  /** The link to the writing thread. */
  readonly writer: MessagePort
  readonly shared: SharedTelemetry
  /** The row of this thread among the shared metrics. */
  readonly metricRow: number
  readonly assignment: ListenerAssignment
  /** The state that the other threads were told last; undefined: none since the start. */
  readonly reloaded: ReloadState | undefined
}

/** The one message of the thread to its starter. */
export type ServingStarted =
  | { readonly kind: 'listening'; readonly ports: readonly number[] }
  /** `address` is set if it is an address that cannot be listened on. */
  | { readonly kind: 'failed'; readonly address: string | undefined; readonly code: string; readonly message: string }

/** The seal until the writing thread has told it: shown as sealed. */
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

/**
 * Connects the calls first, since the watching thread asks at once; its orders wait until this thread listens. Listens
 * only when the state of the server is known, so that no request is answered from a thread that knows nothing.
 */
async function start(parent: MessagePort, data: ServingData): Promise<void> {
  const { config, assignment } = data
  const own = threadTelemetry(data.shared, data.metricRow, config, () => askInFlight(watcher))
  const { world, log } = own
  const orders = new EarlyOrders()
  const watcher = connectPeer({
    channel: portChannel(parent),
    asks: WATCHER_CALLS,
    answers: SERVING_CALLS,
    handlers: {
      inFlight: () => own.telemetry.ownInFlight(),
      reload: ({ state, part }) => orders.run(() => reloads.run(state, log, part)),
      renewTls: (tls) => void orders.run(() => listeners.renewTls(tls)),
      stop: () => void orders.run(() => void stop()),
    },
    onFault: faultLog(log),
  })
  const endOfTick = new EndOfTickQueue(own.world.ticks)
  const { node, store } = await followWriter(data, own, endOfTick)
  const listeners = await ThreadListeners.start({
    config,
    assignment,
    service: serviceOf(node, own, endOfTick),
    world,
    log,
  })
  watchThread(own, node)
  const reloads = reloadsOf(node)
  reloads.add('tls', ({ tls }) => listeners.renewTls(tls))
  // The TLS material of the assignment is newer than what the others were told.
  if (data.reloaded !== undefined) await reloads.run({ ...data.reloaded, tls: assignment.tls }, log)
  const stop = (): Promise<void> =>
    listeners
      .stop()
      .then(() => closeNode(own, node, store))
      .finally(() => process.exit(0))
  orders.begin()
  parent.postMessage({ kind: 'listening', ports: listeners.ports } satisfies ServingStarted)
}

type Following = { readonly node: ServingNode; readonly store: ReplaceableReader }

/** Returns the node once the writer has told it the state of the server. Rejects if the store does not open. */
async function followWriter(data: ServingData, own: ThreadTelemetry, endOfTick: EndOfTickQueue): Promise<Following> {
  const { config, directory, devices } = data
  const store = new ReplaceableReader()
  let status = UNKNOWN
  let roleState = UNTOLD_ROLE
  let follower: ChangeFollower | undefined
  const committed = new CommittedFollower(data.committed)
  // The writer opens and closes the node, and the node asks the writer: it gets functions.
  const node = assembleServing({
    ...commonParts({ config, own, slow: new PooledWork(data.slow, { meter: poolMeterOf(own) }), devices }),
    role: 'serving',
    store,
    directory,
    // Reads settings from the environment; makes no calls.
    cloud: { environment: cloudEnvironment(process.env), clouds: [] },
    audit: { chainHeads: data.chainHeads },
    endOfTick,
    channels: {
      sealStatus: () => status,
      roleState: () => roleState,
      forward: (request) => link.forward(request),
      ask: (mount, question) => link.ask(mount, question),
      committedAfter: (index) => committed.after(index),
      catchUp: () => follower?.catchUp(),
    },
  })
  const state = new ServingState({
    store,
    gate: node.gate,
    openStore: () => openReadingStore(config.storage),
    onStore: async () => {
      if (follower === undefined) follower = await ChangeFollower.start(store, node.invalidation, data.published)
      else await follower.restart()
    },
    onLost: (cause) => {
      // The group starts another thread in its place.
      own.log('error', 'A serving thread could not open the restored store: the thread is replaced', {
        cause: String(cause),
      })
      process.exit(1)
    },
  })
  const takeOver = (news: SealState): Promise<void> => {
    status = news.status
    roleState = news.role
    return state.take(news)
  }
  const link = new WriterLink<SealState>(data.writer, takeOver, own.log)
  await state.ready
  return { node, store }
}

if (parentPort !== null) {
  const parent = parentPort
  start(parent, workerData as ServingData).catch((cause: unknown) => {
    const { code = 'unknown', message = '' } = cause as NodeJS.ErrnoException
    const address = cause instanceof ListenFailed ? cause.address : undefined
    parent.postMessage({ kind: 'failed', address, code, message } satisfies ServingStarted)
  })
}
