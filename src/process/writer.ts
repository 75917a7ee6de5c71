// The thread that writes: it alone has the store open for writing.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { cloudReaches, cloudSurroundings } from '../assembly/cloud-place.ts'
import { type DevelopmentKeys, developmentKeeper, openDevelopment } from '../assembly/development.ts'
import { assembleNode, type WritingNode } from '../assembly/node.ts'
import type { SealNews } from '../assembly/seal-news.ts'
import { factsOf } from '../assembly/server-facts.ts'
import { commitMeter, type SharedTelemetry } from '../assembly/shared-telemetry.ts'
import { staticSeal } from '../assembly/static-seal.ts'
import type { BoardMemory } from '../audit/stream-board.ts'
import type { ServerConfig } from '../config/config.ts'
import { ConfigError } from '../config/values.ts'
import { namedLog } from '../lib/log.ts'
import { RELOAD_PARTS, ReloadList } from '../lib/reload.ts'
import { connectPeer } from '../rpc/peer.ts'
import { portChannel } from '../rpc/ports.ts'
import { StorageError } from '../storage/contract.ts'
import { durableLocation } from '../storage/drivers.ts'
import { ReplaceableStore } from '../storage/replaceable-store.ts'
import { AutoSealFailed } from '../system/seal/auto-seal.ts'
import { CELL, WRITING_ROW } from '../telemetry/cells.ts'
import { EntryCounts } from '../telemetry/entry-counts.ts'
import { tracedStore } from '../telemetry/traced-store.ts'
import { type PublishedIndex, publishIndex } from '../threads/change-follower.ts'
import { faultLog } from '../threads/fault-log.ts'
import { PooledWork, type SlowPlace } from '../threads/pooled-work.ts'
import { ServingLinks } from '../threads/serving-links.ts'
import { type DevicePlace, devicesOf } from './device-host.ts'
import type { ReloadState } from './reload-state.ts'
import { restorableStore } from './restorable-store.ts'
import { WANTED_CALLS, WRITING_CALLS } from './thread-calls.ts'
import { poolMeterOf, threadTelemetry, watchThread } from './thread-telemetry.ts'

export type WriterData = {
  readonly config: ServerConfig
  readonly directory: string
  readonly published: PublishedIndex
  readonly slow: SlowPlace
  readonly devices: DevicePlace | undefined
  readonly shared: SharedTelemetry
  readonly board: BoardMemory
  /** The development server opens itself; undefined for every other. */
  readonly development: { readonly rootToken: string | undefined } | undefined
}

/** What the starting thread is told, before anything else is said on the port. */
export type WriterStarted =
  | { readonly kind: 'started'; readonly development: DevelopmentFacts | undefined }
  | { readonly kind: 'failed'; readonly message: string }
export type DevelopmentFacts = DevelopmentKeys

/** Storage could not make a write durable: nothing more can be promised, so the process ends (threats P-02). */
export const EXIT_STORAGE_FAILED = 74

async function start(parent: MessagePort, data: WriterData): Promise<void> {
  const cloud = cloudSurroundings(data.config, process.env)
  const own = threadTelemetry(data.shared, WRITING_ROW, data.config, undefined, cloudReaches(cloud))
  const { world } = own
  const log = namedLog(own.log, 'storage')
  const location = durableLocation(data.config.storage)
  const open = () =>
    location.open({
      random: world.random,
      clock: world.clock,
      onCommitting: (index) => publishIndex(data.published, index),
      onCommitted: commitMeter(data.shared),
      onFatal: (cause) => {
        log('error', 'A write could not be made durable: the server ends', { cause: cause.message })
        parent.postMessage({ kind: 'fatal' })
      },
    })
  const store = new ReplaceableStore(await open())
  const reopen = async () => {
    try {
      return await open()
    } catch (cause) {
      log('error', 'The store could not be opened after a restore: the server ends', { cause: String(cause) })
      parent.postMessage({ kind: 'fatal' })
      throw cause
    }
  }
  let place: 'here' | 'away' = 'here'
  const links: ServingLinks<SealNews> = new ServingLinks<SealNews>(
    {
      handle: (request) => house.core.handle(request),
      answer: (mount, question) => house.answer(mount, question),
      log: own.log,
    },
    () => ({ status: house.seal.status(), keyring: house.storage.barrier.keyring, store: place }),
  )
  const counts = new EntryCounts(store, own.telemetry.row, world.timers.sleep)
  const house: WritingNode = await assembleNode({
    role: 'writing',
    store: own.isTracing ? tracedStore(store) : store,
    world,
    slow: new PooledWork(data.slow, { meter: poolMeterOf(own) }),
    devices: devicesOf(data.devices),
    log: own.log,
    directory: data.directory,
    telemetry: own,
    facts: factsOf(data.config),
    ...(data.config.seal === undefined ? {} : { autoSeal: staticSeal(data.config.seal, process.env) }),
    tokenLimits: data.config,
    cloud,
    audit: { settings: data.config.audit, board: data.board },
    ...(data.development === undefined ? {} : { keyKeeper: developmentKeeper(data.directory) }),
    channels: {
      announce: async (news) => {
        // Before anybody hears it, so that who joins from here on hears it too.
        place = news.store ?? place
        await links.tell(news)
        if (news.status.sealed) counts.stop()
        else if (news.keyring !== undefined) void counts.start()
        // Not before: a thread that sees it raised reads the log.
        if (news.store === 'here') publishIndex(data.published, await store.lastIndex())
      },
      configReloads: new Map(RELOAD_PARTS.map((part) => [part, () => watcher.call('reload', part)])),
    },
    restorable: restorableStore(data.config.storage, store, reopen),
  })
  publishIndex(data.published, await store.lastIndex())
  const development =
    data.development === undefined
      ? undefined
      : await openDevelopment(house, data.directory, data.development.rootToken)
  await house.openByItself()
  watchThread(own, house, (row) => {
    const { database, journal } = location.bytes()
    row[CELL.storeBytes] = database
    row[CELL.journalBytes] = journal
  })
  const reloads = new ReloadList<ReloadState>()
  reloads.add('audit', () => house.audit.reopen())
  const watcher = connectPeer({
    channel: portChannel(parent),
    asks: WANTED_CALLS,
    answers: WRITING_CALLS,
    handlers: {
      link: (port) => links.add(port),
      reload: ({ state, part }) => reloads.run(state, own.log, part),
      stop: () => {
        void house
          .rest()
          .then(() => own.flush())
          .then(() => house.audit.stop())
          .then(() => store.close())
          .finally(() => process.exit(0))
      },
    },
    onFault: faultLog(own.log),
  })
  parent.postMessage({ kind: 'started', development } satisfies WriterStarted)
}

/** What a person can mend is said in a sentence; anything else is our fault and keeps its stack. */
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
