// The common part of threads of all roles: the parts of their node, the service of their listeners, their reloads, and
// how they end.

import type { CommonParts } from '../assembly/node-parts.ts'
import type { NodeRooms } from '../assembly/node-rooms.ts'
import { serverFacts } from '../assembly/server-facts.ts'
import type { ServerConfig } from '../config/config.ts'
import type { Service } from '../http/requests.ts'
import type { EndOfTickQueue } from '../lib/end-of-tick-queue.ts'
import { ReloadList } from '../lib/reload.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import { type DeviceHandle, devicesOf } from './device-handle.ts'
import type { ReloadState } from './reload-state.ts'
import { type ThreadTelemetry, trafficOf } from './thread-telemetry.ts'

/** The parts that a thread has before its node. */
export type ThreadParts = {
  readonly config: ServerConfig
  readonly own: ThreadTelemetry
  readonly slow: SlowWork
  readonly devices: DeviceHandle | undefined
}

/** Returns the parts of the node that do not depend on the role. */
export function commonParts({ config, own, slow, devices }: ThreadParts) {
  return {
    world: own.world,
    log: own.log,
    slow,
    devices: devicesOf(devices),
    facts: serverFacts(config),
    telemetry: own,
    tokenLimits: config,
    consistency: config.replication.consistency,
  } satisfies CommonParts
}

/** Returns what listeners hand requests to. */
export function serviceOf(
  { core, mounts, takesStream, auditedHeaders }: NodeRooms,
  own: ThreadTelemetry,
  endOfTick: EndOfTickQueue,
): Service {
  return {
    handle: (request) => core.handle(request),
    endOfTick,
    takesStream,
    hasLiveToken: (headers, remoteAddress) => core.hasLiveToken(headers, remoteAddress),
    auditedHeaders,
    passedHeaders: () => mounts.passedHeaders,
    traffic: trafficOf(own),
  }
}

/** Returns what a thread of any role reloads when it is told to; those that listen, or write, add their own lines. */
export function reloadsOf({ audit }: Pick<NodeRooms, 'audit'>): ReloadList<ReloadState> {
  const reloads = new ReloadList<ReloadState>()
  reloads.add('audit', () => audit.reopen())
  return reloads
}

/** Ends the node after the last request: spans and audit entries are written before the store closes. */
export async function closeNode(
  own: ThreadTelemetry,
  { audit }: Pick<NodeRooms, 'audit'>,
  store: { close(): Promise<void> },
): Promise<void> {
  await own.flush()
  await audit.stop()
  await store.close()
}
