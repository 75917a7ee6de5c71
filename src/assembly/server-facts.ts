// The part of the configuration that endpoints show.
import type { ServerConfig } from '../config/config.ts'
import { sanitizedConfig } from '../config/state.ts'
import type { ServerFacts } from '../system/system.ts'

/** Picks it from the configuration. `configState` has no secrets (sys/config/state/sanitized). */
export const serverFacts = (config: ServerConfig): ServerFacts => ({
  reportedVersion: config.reportedVersion,
  storageType: config.storage.type,
  apiAddress: config.apiAddress,
  clusterAddress: config.clusterAddress,
  clusterName: config.clusterName,
  permissionHints: config.permissionHints,
  edition: config.edition,
  replicationEnabled: config.replication.isEnabled,
  operationTokensAskForToken: !config.replication.makesOperationTokensOpenly,
  rawStorage: config.rawStorage,
  configState: sanitizedConfig(config),
  ...(config.hardeningFound === undefined ? {} : { hardening: config.hardeningFound }),
})
