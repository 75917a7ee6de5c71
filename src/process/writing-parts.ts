// What a thread that writes has beside the common parts of thread-node.ts.
import type { ToServing, WritingParts } from '../assembly/node-parts.ts'
import { ReplicationGauges } from '../assembly/replication/replication-gauges.ts'
import { staticSeal } from '../assembly/static-seal.ts'
import type { WritingNode } from '../assembly/writing-node.ts'
import type { ServerConfig } from '../config/config.ts'
import { RELOAD_PARTS, type ReloadList, type ReloadPart } from '../lib/reload.ts'
import type { Store } from '../storage/contract.ts'
import type { ReloadState } from './reload-state.ts'
import { reloadsOf } from './thread-node.ts'
import type { ThreadTelemetry } from './thread-telemetry.ts'

/** Returns the configured seal. */
export function sealParts({ seal }: ServerConfig): Pick<WritingParts, 'autoSeal'> {
  return seal === undefined ? {} : { autoSeal: staticSeal(seal, process.env) }
}

/** Returns, for each part of the configuration, the function that has all threads reload it. */
export function configReloads(reload: (part: ReloadPart) => Promise<boolean>): ToServing['configReloads'] {
  return new Map(RELOAD_PARTS.map((part) => [part, () => reload(part)]))
}

/** Returns what a thread that writes reloads when it is told to. */
export function reloadsOfWriting(node: Pick<WritingNode, 'audit' | 'replication'>): ReloadList<ReloadState> {
  const reloads = reloadsOf(node)
  reloads.add('replication', ({ config }) => node.replication.waitFor(config.replication.synchronous))
  return reloads
}

/** Returns the gauges of replication, over the store and the links of the node. */
export function replicationGauges(
  { telemetry }: Pick<ThreadTelemetry, 'telemetry'>,
  { replication, nodeRole, services }: Pick<WritingNode, 'replication' | 'nodeRole' | 'services'>,
  store: Pick<Store, 'position' | 'retained'>,
): ReplicationGauges {
  const { operations, synchronous } = replication
  return new ReplicationGauges({
    store,
    operations,
    synchronous,
    checks: services.treeChecks,
    nodeRole,
    row: telemetry.row,
  })
}
