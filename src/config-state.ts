// The configuration as `sys/config/state/sanitized` shows it: by the names of the file, without anything that opens
// something. A key that is not named here is not shown.
import type { ServerConfig } from './config.ts'
import { DEFAULT_RETENTION } from './storage/retention.ts'

export function sanitizedConfig(config: ServerConfig): object {
  const { limits, storage, seal, tokenAskedFor } = config
  return {
    api_addr: config.apiAddress,
    cluster_name: config.clusterName,
    default_lease_ttl: config.defaultTtlSeconds,
    max_lease_ttl: config.maxTtlSeconds,
    threads: config.threads,
    edition: config.edition,
    reported_version: config.reportedVersion,
    raw_storage_endpoint: config.rawStorage,
    permission_denied_hints: config.permissionHints,
    listeners: [
      {
        type: 'tcp',
        config: {
          address: `${config.host}:${config.port}`,
          max_request_size: limits.maxRequestBytes,
          http_read_header_timeout: limits.readHeaderTimeoutMs / 1000,
          http_read_timeout: limits.readTimeoutMs / 1000,
          http_idle_timeout: limits.idleTimeoutMs / 1000,
          disable_unauthed_generate_root_endpoints: tokenAskedFor.generateRoot,
          disable_unauthed_rekey_endpoints: tokenAskedFor.rekey,
        },
      },
    ],
    storage:
      storage.type === 'inmem'
        ? { type: 'inmem' }
        : {
            type: 'sqlite',
            path: storage.directory,
            log_retention_bytes: (storage.retention ?? DEFAULT_RETENTION).bytes,
            log_retention_time: (storage.retention ?? DEFAULT_RETENTION).ms / 1000,
          },
    seals: [
      seal === undefined
        ? { type: 'shamir', disabled: false }
        : // The key, or where it is, is nobody's business.
          { type: 'static', disabled: false, current_key_id: seal.keyId },
    ],
  }
}
