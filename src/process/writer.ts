// The writing thread: it alone has the store open for writing.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { cloudReaches, newCloudEnvironment } from '../assembly/cloud-dependencies.ts'
import { type DevelopmentKeys, developmentKeeper, openDevelopment } from '../assembly/development.ts'
import type { ToServing } from '../assembly/node-parts.ts'
import type { SealState } from '../assembly/seal-state.ts'
import { commitMeter, type SharedTelemetry } from '../assembly/shared-telemetry.ts'
import { assembleWriting, type WritingNode } from '../assembly/writing-node.ts'
import type { ChainHeadsMemory } from '../audit/chain-heads.ts'
import type { ServerConfig } from '../config/config.ts'
import { ConfigError } from '../config/values.ts'
import { namedLog } from '../lib/log.ts'
import { connectPeer, type Peer } from '../rpc/peer.ts'
import { portChannel } from '../rpc/ports.ts'
import type { Store } from '../storage/contract.ts'
import { durableLocation } from '../storage/drivers.ts'
import { StorageError } from '../storage/errors.ts'
import { AutoSealFailed } from '../system/seal/auto-seal.ts'
import { CELL, WRITING_ROW } from '../telemetry/cells.ts'
import { EntryCounts } from '../telemetry/entry-counts.ts'
import { tracedStore } from '../telemetry/traced-store.ts'
import { type PublishedIndex, publishIndex } from '../threads/change-follower.ts'
import { type CommittedIndex, tellClosed, tellCommitted, tellOpened } from '../threads/committed-index.ts'
import { faultLog } from '../threads/fault-log.ts'
import { PooledWork, type PoolHandle } from '../threads/pooled-work.ts'
import { ServingLinks } from '../threads/serving-links.ts'
import { ThreadLinks } from '../threads/thread-links.ts'
import type { DeviceHandle } from './device-handle.ts'
import { linkSettings } from './link-settings.ts'
import { leavingStore, restorableStore } from './restorable-store.ts'
import { openWritingStore, type WritingStore } from './stores.ts'
import { WANTED_CALLS, WRITING_CALLS } from './thread-calls.ts'
import { closeNode, commonParts } from './thread-node.ts'
import { poolMeterOf, type ThreadTelemetry, threadTelemetry, watchThread } from './thread-telemetry.ts'
import { configReloads, reloadsOfWriting, replicationGauges, sealParts } from './writing-parts.ts'

/** Data that the watching thread hands to the writing thread. */
export type WriterData = {
  readonly config: ServerConfig
  readonly directory: string
  readonly published: PublishedIndex
  readonly committed: CommittedIndex
  readonly slow: PoolHandle
  readonly devices: DeviceHandle | undefined
  readonly shared: SharedTelemetry
  readonly chainHeads: ChainHeadsMemory
  /** Set for a development server, which unseals itself. */
  readonly development: { readonly rootToken: string | undefined } | undefined
}

/** The first message of the thread to its starter. */
export type WriterStarted =
  | { readonly kind: 'started'; readonly development: DevelopmentFacts | undefined }
  | { readonly kind: 'failed'; readonly message: string }
/** The secrets that a development server prints at its start. */
export type DevelopmentFacts = DevelopmentKeys

/**
 * The exit code if storage could not make a write durable: nothing more can be promised, so the process ends (threats
 * P-02).
 */
export const EXIT_STORAGE_FAILED = 74

/** Opens the store, unseals if the seal can, then tells the starter. The watching thread is heard only after that. */
async function start(parent: MessagePort, data: WriterData): Promise<void> {
  const { config, directory, chainHeads } = data
  const cloud = newCloudEnvironment(config, process.env)
  const own = threadTelemetry(data.shared, WRITING_ROW, config, undefined, cloudReaches(cloud))
  const { world } = own
  const opened = await openWritingStore({
    config,
    world,
    log: namedLog(own.log, 'storage'),
    onCommitting: (index) => publishIndex(data.published, index),
    onPublished: (index) => tellCommitted(data.committed, index),
    onCommitted: commitMeter(data.shared),
    onFatal: () => {
      tellClosed(data.committed)
      parent.postMessage({ kind: 'fatal' })
    },
  })
  const { store, reopen } = opened
  const linked = new ThreadLinks({ owner: () => node.linkOwner(), timers: world.timers, log: own.log })
  const serving = servingSide(() => node, { store, counters: data, own, linked })
  const node: WritingNode = await assembleWriting({
    ...commonParts({
      config,
      own,
      slow: new PooledWork(data.slow, { meter: poolMeterOf(own) }),
      devices: data.devices,
    }),
    ...sealParts(config),
    ...(data.development === undefined ? {} : { keyKeeper: developmentKeeper(directory) }),
    ...(config.replication.isEnabled ? { links: { control: linked, ...linkSettings(config, world) } } : {}),
    role: 'writing',
    store: own.isTracing ? tracedStore(store) : store,
    directory,
    cloud,
    audit: { settings: config.audit, chainHeads },
    channels: { announce: serving.announce, configReloads: configReloads((part) => watcher.call('reload', part)) },
    restorable: restorableStore(config.storage, store, reopen),
    leaveOnly: leavingStore(durableLocation(config.storage), store, reopen),
  })
  // Followers begin at the last change of the store. With another counter they would look into the log at each request.
  tellIndex(data, await store.lastIndex())
  const development = data.development && (await openDevelopment(node, directory, data.development.rootToken))
  await node.openByItself()
  watchStore(own, node, opened)
  const watcher = listenToWatcher(parent, { node, own, store, links: serving.links, linked, committed: data.committed })
  parent.postMessage({ kind: 'started', development } satisfies WriterStarted)
}

type Counters = Pick<WriterData, 'published' | 'committed'>

type ServingSide = { readonly links: ServingLinks<SealState>; readonly announce: ToServing['announce'] }

type ServingSideParts = {
  readonly store: Store
  readonly counters: Counters
  readonly own: ThreadTelemetry
  readonly linked: Pick<ThreadLinks, 'tellStore'>
}

/**
 * The links to the serving threads. The node tells them the state of its seal, and they ask the node. It gets
 * `announce`, and comes as a function. The thread of the links hears only whether it may have the store open.
 */
function servingSide(node: () => WritingNode, { store, counters, own, linked }: ServingSideParts): ServingSide {
  let storeState: 'attached' | 'detached' = 'attached'
  const counts = new EntryCounts(store, own.telemetry.row, own.world.timers.sleep)
  const links = new ServingLinks<SealState>(
    {
      handle: (request) => node().core.handle(request),
      answer: (mount, question) => node().answer(mount, question),
      log: own.log,
    },
    () => ({
      status: node().seal.status(),
      role: node().role.state,
      keyring: node().storage.barrier.keyring,
      store: storeState,
    }),
  )
  return {
    links,
    announce: async (news) => {
      // Before the threads are told, so that one that joins meanwhile hears it too.
      storeState = news.store ?? storeState
      if (news.store === 'detached') tellClosed(counters.committed)
      await Promise.all([links.tell(news), news.store === undefined ? undefined : linked.tellStore(news.store)])
      if (news.status.sealed) counts.stop()
      else if (news.keyring !== undefined) void counts.start()
      // Only now: a thread that sees the counter raised reads the log, and needs the store for it.
      if (news.store === 'attached') tellIndex(counters, await store.lastIndex())
    },
  }
}

/** Sets both counters to where the store stands that was just opened. */
function tellIndex({ published, committed }: Counters, index: number): void {
  publishIndex(published, index)
  tellOpened(committed, index)
}

function watchStore(own: ThreadTelemetry, node: WritingNode, { store, bytes }: WritingStore): void {
  const gauges = replicationGauges(own, node, store)
  watchThread(own, node, (row) => {
    const { database, journal } = bytes()
    row[CELL.storeBytes] = database
    row[CELL.journalBytes] = journal
    gauges.second()
  })
}

type Parts = {
  readonly node: WritingNode
  readonly own: ThreadTelemetry
  readonly store: Store
  readonly links: ServingLinks<SealState>
  readonly linked: ThreadLinks
  readonly committed: CommittedIndex
}

/** Connects the calls of the watching thread, which tells this thread nothing before `started`. */
function listenToWatcher(
  parent: MessagePort,
  { node, own, store, links, linked, committed }: Parts,
): Peer<typeof WANTED_CALLS> {
  const reloads = reloadsOfWriting(node)
  return connectPeer({
    channel: portChannel(parent),
    asks: WANTED_CALLS,
    answers: WRITING_CALLS,
    handlers: {
      link: (port) => links.add(port),
      linkThread: (port) => linked.join(port),
      reload: ({ state, part }) => reloads.run(state, own.log, part),
      stop: () => {
        // Its thread has ended by now.
        linked.end()
        void node
          .rest()
          .then(() => tellClosed(committed))
          .then(() => closeNode(own, node, store))
          .finally(() => process.exit(0))
      },
    },
    onFault: faultLog(own.log),
  })
}

/** Returns the sentence for an operator who can mend the cause; anything else is a defect and keeps its stack. */
function sentence(cause: unknown): string {
  if (cause instanceof StorageError || cause instanceof AutoSealFailed || cause instanceof ConfigError)
    return cause.message
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}

if (parentPort !== null) {
  const parent = parentPort
  start(parent, workerData as WriterData).catch((cause: unknown) => {
    parent.postMessage({ kind: 'failed', message: sentence(cause) } satisfies WriterStarted)
  })
}
