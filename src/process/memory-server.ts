// A server in memory: everything in one thread, and nothing outlives the process.
import { strict as assert } from 'node:assert'
import { cloudReaches, newCloudEnvironment } from '../assembly/cloud-dependencies.ts'
import { commitMeter, type SharedTelemetry } from '../assembly/shared-telemetry.ts'
import { assembleWriting, type WritingNode } from '../assembly/writing-node.ts'
import { newSharedFigures } from '../http/shared-figures.ts'
import { EndOfTickQueue } from '../lib/end-of-tick-queue.ts'
import type { ReloadPart } from '../lib/reload.ts'
import { inlineWork } from '../lib/slow-work.ts'
import type { Store } from '../storage/contract.ts'
import { FIRST_SERVING_ROW } from '../telemetry/cells.ts'
import { LateLinks } from '../threads/late-links.ts'
import { type RunningDevices, startDevices } from './device-host.ts'
import { linkCounts } from './link-counts.ts'
import { beginLinks } from './link-host.ts'
import { linkSettings } from './link-settings.ts'
import { type ListenerAssignment, ThreadListeners, type TlsMaterials } from './listening.ts'
import { openMemoryStore } from './memory-storage.ts'
import type { ReloadState } from './reload-state.ts'
import { type Reload, reloadWith } from './reloading.ts'
import { type RunningServer, type ServerOptions, sharedTelemetry, shownAddresses } from './running-server.ts'
import { closeNode, commonParts, serviceOf } from './thread-node.ts'
import { type ThreadTelemetry, threadTelemetry, watchThread } from './thread-telemetry.ts'
import { TlsState } from './tls-state.ts'
import type { DevelopmentFacts } from './writer.ts'
import { configReloads, reloadsOfWriting, replicationGauges, sealParts } from './writing-parts.ts'

/** Starts the server; resolves when it listens. @throws ListenFailed, TlsFileError */
export async function startInMemory(options: ServerOptions): Promise<RunningServer> {
  const { world, log, config } = options
  const shared = sharedTelemetry(options, 1)
  const endOfTick = new EndOfTickQueue(world.ticks)
  const devices = startDevices(config, world, log)
  const { own, node, store, links } = await onlyNode({
    options,
    shared,
    devices,
    endOfTick,
    reload: (part) => reload(part),
  })
  const development = options.development && (await openDevelopment(node, options.development.rootToken))
  const tls = new TlsState(config, world, log)
  const reloads = reloadsOfWriting(node)
  const tellOthers = (state: ReloadState, part?: ReloadPart) => reloads.run(state, log, part)
  const reload = reloadWith({ ...options, reread: options.reread, levels: shared.levels, tls, tellOthers })
  const gauges = replicationGauges(own, node, store)
  const sampler = watchThread(own, node, () => gauges.second())
  const assignment = listenerAssignment(options, tls.materials)
  const listeners = await ThreadListeners.start({
    config,
    assignment,
    service: serviceOf(node, own, endOfTick),
    world,
    log,
  })
  tls.renewTickets((materials) => listeners.renewTls(materials))
  reloads.add('tls', (state) => listeners.renewTls(state.tls))
  return {
    ...shownAddresses(config, listeners.ports),
    development,
    reload: () => reload(),
    stop: async () => {
      tls.stop()
      await listeners.stop()
      sampler.stop()
      await links.close()
      await closeNode(own, node, store)
      await devices.stop()
    },
  }
}

type OnlyParts = {
  readonly options: ServerOptions
  readonly shared: SharedTelemetry
  readonly devices: RunningDevices
  readonly endOfTick: EndOfTickQueue
  readonly reload: Reload
}

type OnlyNode = {
  readonly own: ThreadTelemetry
  readonly node: WritingNode
  readonly store: Store
  readonly links: LateLinks
}

async function onlyNode({ options, shared, devices, endOfTick, reload }: OnlyParts): Promise<OnlyNode> {
  const { config, log } = options
  const cloud = newCloudEnvironment(config, process.env)
  const own = threadTelemetry(shared, FIRST_SERVING_ROW, config, undefined, cloudReaches(cloud))
  const world = { ...options.world, outbound: own.world.outbound }
  const { store, leaveOnly } = await openMemoryStore(config.storage, world, { onCommitted: commitMeter(shared) })
  // In this thread as all else, so the two sides have each other without messages.
  const links = new LateLinks(async () => {
    const owner = node.linkOwner() ?? assert.fail('only a node with an owner says what is linked')
    return beginLinks({ world, owner, store, log, counts: linkCounts(own.telemetry.row) })
  })
  const node: WritingNode = await assembleWriting({
    ...commonParts({ config, own, slow: inlineWork(options.world), devices: devices.newHandle() }),
    ...sealParts(config),
    ...(config.replication.isEnabled ? { links: { control: links, ...linkSettings(config, world) } } : {}),
    world,
    log,
    role: 'all',
    store,
    leaveOnly,
    cloud,
    audit: { settings: config.audit },
    endOfTick,
    channels: { configReloads: configReloads(reload) },
  })
  return { own, node, store, links }
}

async function openDevelopment(node: WritingNode, rootToken: string | undefined): Promise<DevelopmentFacts> {
  const made = await node.initialise({ shares: 1, threshold: 1 }, '', rootToken === undefined ? {} : { rootToken })
  const share = made.shares[0] as Buffer
  const unsealKey = share.toString('base64')
  await node.operations.unseal(share)
  return { unsealKey, rootToken: made.rootToken }
}

/** The only thread has every listener for itself. */
function listenerAssignment({ config, world }: ServerOptions, tls: TlsMaterials): ListenerAssignment {
  return {
    ports: config.listeners.map(({ address }) => (address.kind === 'tcp' ? address.port : 0)),
    sharePorts: false,
    holdsUnixSockets: true,
    figures: newSharedFigures(1, world.random),
    row: 0,
    tls,
  }
}
