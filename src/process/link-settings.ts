// What the configuration says of links to other clusters.
import type { ReplicationParts } from '../assembly/replication/replication-parts.ts'
import { clusterListenAddresses, defaultClusterAddr } from '../config/cluster-address.ts'
import type { ServerConfig } from '../config/config.ts'
import type { World } from '../lib/world.ts'
import { realPrimaryApi } from './primary-api.ts'

/** What a node is handed for its links, besides their host. */
export function linkSettings(config: ServerConfig, world: World): Omit<ReplicationParts, 'control'> {
  return {
    primaryApi: realPrimaryApi(config, world),
    synchronous: config.replication.synchronous,
    listenAt: clusterListenAddresses(config.listeners),
    clusterAddress: (port) => config.clusterAddress || defaultClusterAddr(config, port),
  }
}
