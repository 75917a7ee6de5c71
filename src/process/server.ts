// Starts a server: the writing thread first, then the serving ones and the one of the links. This thread only watches
// over them.
import { newChainHeadsMemory } from '../audit/chain-heads.ts'
import { runSelfTests } from '../crypto/self-test.ts'
import type { ReloadPart } from '../lib/reload.ts'
import { storeLocation } from '../storage/drivers.ts'
import { newPublishedIndex } from '../threads/change-follower.ts'
import { newCommittedIndex } from '../threads/committed-index.ts'
import { ReloadCoordinator } from '../threads/reload-coordinator.ts'
import { ThreadGroup } from '../threads/thread-group.ts'
import { startDevices } from './device-host.ts'
import { ListenFailed, requireFreeAddresses } from './free-addresses.ts'
import { startLinkThread } from './link-thread.ts'
import type { ReloadState } from './reload-state.ts'
import { reloadWith } from './reloading.ts'
import { type RunningServer, type ServerOptions, sharedTelemetry, shownAddresses } from './running-server.ts'
import { ServingThreads, servingThreads } from './serving-threads.ts'
import { startSlowPool } from './slow-pool.ts'
import { StartError } from './start-error.ts'
import { TlsFileError } from './tls-files.ts'
import { TlsState } from './tls-state.ts'
import type { DevelopmentFacts } from './writer.ts'
import { WriterThread } from './writer-thread.ts'

/** Exported again for callers that start a server. */
export type { RunningServer, ServerOptions }
export { StartError }

/** Starts the server that the storage calls for: on threads, or in memory. @throws StartError */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  runSelfTests()
  const { durable } = storeLocation(options.config.storage)
  try {
    if (durable !== undefined) return await startThreads(options, durable.directory)
    // Loaded only when needed: it brings all engines with it, for which the watching thread has no use.
    const { startInMemory } = await import('./memory-server.ts')
    return await startInMemory(options)
  } catch (cause) {
    if (cause instanceof ListenFailed || cause instanceof TlsFileError) throw new StartError(cause.message)
    throw cause
  }
}

/** Starts a server on a durable store. A failure ends every thread that was started. */
async function startThreads(options: ServerOptions, directory: string): Promise<RunningServer> {
  const { config, world, log } = options
  const tls = new TlsState(config, world, log)
  const shared = sharedTelemetry(options, servingThreads(config))
  const pool = startSlowPool(options)
  const devices = startDevices(config, world, log)
  const reloads = new ReloadCoordinator<ReloadState>(log)
  const counters = { published: newPublishedIndex(), committed: newCommittedIndex() }
  const common = { config, directory, ...counters, shared, chainHeads: newChainHeadsMemory() }
  const writer = new WriterThread({
    data: { ...common, slow: pool.newHandle(), devices: devices.newHandle(), development: options.development },
    timers: world.timers,
    log,
    onReloadWanted: (part) => reloads.wanted(part),
  })
  reloads.add(
    (order) => writer.peer.call('reload', order),
    (state) => ({ ...state, tls: [] }),
  )
  const links = { writing: writer.peer, slow: pool.newHandle, devices: devices.newHandle, tls: () => tls.materials }
  const serving = new ServingThreads({ ...common, ...links, world, log, reloads })
  const stopOthers = (): Promise<void> => pool.stop().then(() => devices.stop())
  try {
    const linkParts = { ...options, ...common, writing: writer.peer }
    const { development, group, links } = await startAll(writer, serving, options, () => startLinkThread(linkParts))
    tls.renewTickets((materials) => serving.renewTls(materials))
    const tellOthers = (state: ReloadState, part?: ReloadPart) => serving.reload(state, part)
    const reload = reloadWith({ ...options, reread: options.reread, levels: shared.levels, tls, tellOthers })
    reloads.onWanted = reload
    return {
      ...shownAddresses(config, serving.ports),
      development,
      reload: () => reload(),
      stop: async () => {
        tls.stop()
        // Serving threads and links first: what they still do may need the writing thread. Pool and devices last: both
        // kinds use them.
        await Promise.all([group.stop(), links?.stop()])
        await writer.stop()
        await stopOthers()
      },
    }
  } catch (cause) {
    // Threads left behind would keep the process alive.
    await writer.abandon()
    await serving.abandon()
    await stopOthers()
    throw cause
  }
}

type Started = {
  readonly development: DevelopmentFacts | undefined
  readonly group: ThreadGroup
  /** Undefined where the configuration allows no links. */
  readonly links: ThreadGroup | undefined
}

/** Starts writing and serving threads at the same time, then the one of the links. @throws StartError, ListenFailed */
async function startAll(
  writer: WriterThread,
  serving: ServingThreads,
  options: ServerOptions,
  startLinks: () => Promise<ThreadGroup>,
): Promise<Started> {
  const { config, world, log, onFatal } = options
  // Started beside the writer, since most of a start is the loading of modules.
  const start = () => serving.start()
  const serves = ThreadGroup.start({ kind: 'serving', count: serving.count, start, clock: world.clock, log, onFatal })
  // The failure is handled below. Marked here, or it would end the process before the writer's own failure is reported.
  serves.catch(() => {})
  const development = await writer.started
  writer.watch(onFatal)
  // Only once the writer has the store: of two servers started at once, the probe of one must not stop the other.
  await requireFreeAddresses(config.listeners.map(({ address }) => address))
  serving.allowListening()
  const linked = config.replication.isEnabled ? startLinks() : undefined
  try {
    const [group, links] = await Promise.all([serves, linked])
    return { development, group, links }
  } catch (cause) {
    for (const one of await Promise.allSettled([serves, linked]))
      if (one.status === 'fulfilled') await one.value?.stop()
    throw cause
  }
}
