// The configuration as `sys/config/state/sanitized` shows it: by the names of the file, without secrets and without
// paths to them. A key that is not named here is not shown, so a new one cannot leak.

import { storeLocation } from '../storage/drivers.ts'
import { addressText } from './address-text.ts'
import type { ServerConfig } from './config.ts'
import type { ListenerConfig } from './listener.ts'
import { NO_SWITCHES } from './switches.ts'

/** Returns the shown part; times are in seconds. */
export function sanitizedConfig(config: ServerConfig): object {
  const { storage, seal } = config
  return {
    api_addr: config.apiAddress,
    cluster_addr: config.clusterAddress,
    cluster_name: config.clusterName,
    default_lease_ttl: config.defaultTtlSeconds,
    max_lease_ttl: config.maxTtlSeconds,
    max_cubbyhole_entry_size: config.kept.entryBytes,
    max_cubbyhole_entries: config.kept.entries,
    max_cubbyhole_size: config.kept.bytes,
    threads: config.threads,
    edition: config.edition,
    reported_version: config.reportedVersion,
    raw_storage_endpoint: config.rawStorage,
    permission_denied_hints: config.permissionHints,
    replication: {
      enabled: config.replication.isEnabled,
      allowed_ca_paths: config.replication.allowedCaPaths,
      unauthenticated_operation_token: config.replication.makesOperationTokensOpenly,
      best_effort_wal_wait_duration: config.replication.consistency.heldMs / 1_000,
      consistency_wait: config.replication.consistency.waitMs / 1_000,
      await_state_limit: config.replication.consistency.awaitStateMs / 1_000,
      synchronous_secondaries: config.replication.synchronous.ids,
      synchronous_timeout: shownTimeout(config.replication.synchronous),
    },
    listeners: config.listeners.map(shownListener),
    storage: storeLocation(storage).shown,
    kms_libraries: config.kmsLibraries.map(({ name }) => ({ type: 'pkcs11', name })),
    seals: [
      seal === undefined
        ? { type: 'shamir', disabled: false }
        : // Neither the key nor its location is shown.
          { type: 'static', disabled: false, current_key_id: seal.keyId },
    ],
  }
}

const shownTimeout = ({ timeoutMs }: ServerConfig['replication']['synchronous']): number | 'never' =>
  timeoutMs === undefined ? 'never' : timeoutMs / 1_000

function shownListener({ address, rules, clusterAddress }: ListenerConfig): object {
  const { limits, tls, switches = NO_SWITCHES } = rules
  return {
    type: address.kind,
    config: {
      address: addressText(address),
      ...(clusterAddress === undefined ? {} : { cluster_address: addressText({ kind: 'tcp', ...clusterAddress }) }),
      tls_disable: tls === undefined,
      ...(tls === undefined ? {} : { tls_cert_file: tls.certFile, tls_min_version: tls.minVersion }),
      max_request_size: limits.maxRequestBytes,
      max_request_duration: limits.maxRequestMs / 1000,
      http_read_header_timeout: limits.readHeaderTimeoutMs / 1000,
      http_read_timeout: limits.readTimeoutMs / 1000,
      http_idle_timeout: limits.idleTimeoutMs / 1000,
      disable_unauthed_generate_root_endpoints: switches.tokenAskedFor.generateRoot,
      disable_unauthed_rekey_endpoints: switches.tokenAskedFor.rekey,
      disable_replication_status_endpoints: switches.hidesReplicationStatus,
    },
  }
}
