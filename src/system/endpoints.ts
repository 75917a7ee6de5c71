// The endpoints of the system mount, in one list.
import type { Endpoint } from '../api/endpoint.ts'
import { AUDIT_ENDPOINTS } from './endpoints/audit-endpoints.ts'
import { CAPABILITY_ENDPOINTS } from './endpoints/capability-endpoints.ts'
import { SYSTEM_CONFIG_ENDPOINTS } from './endpoints/config-endpoints.ts'
import { CORS_ENDPOINTS } from './endpoints/cors-endpoints.ts'
import { COUNTER_ENDPOINTS } from './endpoints/counter-endpoints.ts'
import { EXPLAIN_ENDPOINTS } from './endpoints/explain-endpoints.ts'
import { GENERATE_ROOT_ENDPOINTS } from './endpoints/generate-root-endpoints.ts'
import { GROUP_POLICY_ENDPOINTS } from './endpoints/group-policy-endpoints.ts'
import { HARDENING_ENDPOINTS } from './endpoints/hardening-endpoint.ts'
import { hostInfo } from './endpoints/host-info-endpoint.ts'
import { inFlight } from './endpoints/in-flight-endpoint.ts'
import { inspectRouter } from './endpoints/inspect-endpoint.ts'
import { KEYRING_ENDPOINTS } from './endpoints/keyring-endpoints.ts'
import { LEASE_ENDPOINTS } from './endpoints/lease-endpoints.ts'
import { LICENSE_ENDPOINTS } from './endpoints/license-endpoints.ts'
import { LOCKED_USER_ENDPOINTS } from './endpoints/locked-user-endpoints.ts'
import { LOGGER_ENDPOINTS } from './endpoints/logger-endpoints.ts'
import { MANAGED_KEY_ENDPOINTS } from './endpoints/managed-key-endpoints.ts'
import { metrics } from './endpoints/metrics-endpoint.ts'
import { MOUNT_ENDPOINTS } from './endpoints/mount-endpoints.ts'
import { NAMESPACE_ENDPOINTS } from './endpoints/namespace-endpoints.ts'
import { NODE_ENDPOINTS } from './endpoints/node-endpoints.ts'
import { OPERATION_TOKEN_ENDPOINTS } from './endpoints/operation-token-endpoints.ts'
import { PASSWORD_POLICY_ENDPOINTS } from './endpoints/password-policy-endpoints.ts'
import { PLUGIN_ENDPOINTS } from './endpoints/plugin-endpoints.ts'
import { POLICY_ENDPOINTS } from './endpoints/policy-endpoints.ts'
import { QUOTA_ENDPOINTS } from './endpoints/quota-endpoints.ts'
import { RAW_ENDPOINTS } from './endpoints/raw-endpoints.ts'
import { REKEY_ENDPOINTS } from './endpoints/rekey-endpoints.ts'
import { REMOUNT_ENDPOINTS } from './endpoints/remount-endpoints.ts'
import { REPLICATION_ENDPOINTS } from './endpoints/replication-endpoints.ts'
import { REPLICATION_REPAIR_ENDPOINTS } from './endpoints/replication-repair-endpoints.ts'
import { resultantAcl } from './endpoints/resultant-acl-endpoint.ts'
import { SEAL_ENDPOINTS } from './endpoints/seal-endpoints.ts'
import { SNAPSHOT_ENDPOINTS } from './endpoints/snapshot-endpoints.ts'
import { STATUS_ENDPOINTS } from './endpoints/status-endpoints.ts'
import { TOOLS_ENDPOINTS } from './endpoints/tools-endpoints.ts'
import { UI_HEADER_ENDPOINTS } from './endpoints/ui-header-endpoints.ts'
import { UI_MOUNT_ENDPOINTS } from './endpoints/ui-mount-endpoints.ts'
import { versionHistory } from './endpoints/version-history-endpoint.ts'
import { WRAPPING_ENDPOINTS } from './endpoints/wrapping-endpoints.ts'
import type { System } from './system.ts'

/**
 * All endpoints under sys/. Their order has no meaning: the router prefers a literal segment to a parameter and refuses
 * two definitions of one place (src/api/router.ts). Endpoints that are not listed here are not served.
 */
export const SYSTEM_ENDPOINTS: readonly Endpoint<System>[] = [
  ...SEAL_ENDPOINTS,
  ...STATUS_ENDPOINTS,
  ...HARDENING_ENDPOINTS,
  ...REPLICATION_ENDPOINTS,
  ...REPLICATION_REPAIR_ENDPOINTS,
  ...OPERATION_TOKEN_ENDPOINTS,
  ...KEYRING_ENDPOINTS,
  ...REKEY_ENDPOINTS,
  ...GENERATE_ROOT_ENDPOINTS,
  ...SNAPSHOT_ENDPOINTS,
  ...NAMESPACE_ENDPOINTS,
  ...MOUNT_ENDPOINTS,
  ...REMOUNT_ENDPOINTS,
  ...UI_MOUNT_ENDPOINTS,
  ...POLICY_ENDPOINTS,
  ...EXPLAIN_ENDPOINTS,
  ...CAPABILITY_ENDPOINTS,
  ...LEASE_ENDPOINTS,
  ...LOCKED_USER_ENDPOINTS,
  ...WRAPPING_ENDPOINTS,
  ...AUDIT_ENDPOINTS,
  resultantAcl,
  ...TOOLS_ENDPOINTS,
  ...LICENSE_ENDPOINTS,
  ...PLUGIN_ENDPOINTS,
  ...PASSWORD_POLICY_ENDPOINTS,
  ...COUNTER_ENDPOINTS,
  ...SYSTEM_CONFIG_ENDPOINTS,
  ...CORS_ENDPOINTS,
  ...UI_HEADER_ENDPOINTS,
  ...GROUP_POLICY_ENDPOINTS,
  ...NODE_ENDPOINTS,
  ...RAW_ENDPOINTS,
  hostInfo,
  inspectRouter,
  versionHistory,
  metrics,
  inFlight,
  ...LOGGER_ENDPOINTS,
  ...QUOTA_ENDPOINTS,
  ...MANAGED_KEY_ENDPOINTS,
]
