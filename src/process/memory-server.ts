// A server in memory: everything in one thread, and nothing outlives the process.
import { cloudReaches, cloudSurroundings } from '../assembly/cloud-place.ts'
import { assembleNode } from '../assembly/node.ts'
import { factsOf } from '../assembly/server-facts.ts'
import { commitMeter } from '../assembly/shared-telemetry.ts'
import { staticSeal } from '../assembly/static-seal.ts'
import { newSharedFigures } from '../http/shared-figures.ts'
import { RELOAD_PARTS, ReloadList, type ReloadPart } from '../lib/reload.ts'
import { inlineWork } from '../lib/slow-work.ts'
import { TurnEnd } from '../lib/turn-end.ts'
import { storeLocation } from '../storage/drivers.ts'
import { FIRST_SERVING_ROW } from '../telemetry/cells.ts'
import { devicesOf, startDevices } from './device-host.ts'
import { ThreadListeners } from './listening.ts'
import type { ReloadState } from './reload-state.ts'
import { reloadWith } from './reloading.ts'
import { type RunningServer, type ServerOptions, sharedTelemetry, shown } from './running-server.ts'
import { threadTelemetry, trafficOf, watchThread } from './thread-telemetry.ts'
import { TlsState } from './tls-state.ts'
import type { DevelopmentFacts } from './writer.ts'

export async function startInMemory(options: ServerOptions): Promise<RunningServer> {
  const { world, log, config } = options
  const shared = sharedTelemetry(options, 1)
  const cloud = cloudSurroundings(config, process.env)
  const own = threadTelemetry(shared, FIRST_SERVING_ROW, config, undefined, cloudReaches(cloud))
  const turnEnd = new TurnEnd()
  const { random, clock } = world
  const store = await storeLocation(config.storage).open({ random, clock, onCommitted: commitMeter(shared) })
  const devices = startDevices(config, world, log)
  const house = await assembleNode({
    role: 'all',
    store,
    world: { ...world, outbound: own.world.outbound },
    slow: inlineWork(world),
    devices: devicesOf(devices.place()),
    log,
    facts: factsOf(config),
    telemetry: own,
    ...(config.seal === undefined ? {} : { autoSeal: staticSeal(config.seal, process.env) }),
    tokenLimits: config,
    cloud,
    audit: { settings: config.audit },
    turnEnd,
    channels: { configReloads: new Map(RELOAD_PARTS.map((part) => [part, () => reload(part)])) },
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
    service: {
      handle,
      turnEnd,
      takesStream: house.takesStream,
      hasLiveToken: (headers, remoteAddress) => house.core.hasLiveToken(headers, remoteAddress),
      auditedHeaders: house.auditedHeaders,
      passedHeaders: () => house.mounts.passedHeaders,
      traffic,
    },
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
