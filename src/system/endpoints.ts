// All endpoints under sys/, in one list.
import type { Endpoint } from '../api/endpoint.ts'
import { AUDIT_ENDPOINTS } from './audit-endpoints.ts'
import { CAPABILITY_ENDPOINTS } from './capability-endpoints.ts'
import { CONFIG_ENDPOINTS } from './config-endpoints.ts'
import { CORS_ENDPOINTS } from './cors-endpoints.ts'
import { COUNTER_ENDPOINTS } from './counter-endpoints.ts'
import { EXPLAIN_ENDPOINTS } from './explain-endpoints.ts'
import { GENERATE_ROOT_ENDPOINTS } from './generate-root-endpoints.ts'
import { HARDENING_ENDPOINTS } from './hardening-endpoint.ts'
import { hostInfo } from './host-info-endpoint.ts'
import { inFlight } from './in-flight-endpoint.ts'
import { inspectRouter } from './inspect-endpoint.ts'
import { KEYRING_ENDPOINTS } from './keyring-endpoints.ts'
import { LEASE_ENDPOINTS } from './lease-endpoints.ts'
import { LICENSE_ENDPOINTS } from './license-endpoints.ts'
import { LOCKED_USER_ENDPOINTS } from './locked-user-endpoints.ts'
import { LOGGER_ENDPOINTS } from './logger-endpoints.ts'
import { MANAGED_KEY_ENDPOINTS } from './managed-key-endpoints.ts'
import { metrics } from './metrics-endpoint.ts'
import { MOUNT_ENDPOINTS } from './mount-endpoints.ts'
import { NODE_ENDPOINTS } from './node-endpoints.ts'
import { PASSWORD_POLICY_ENDPOINTS } from './password-policy-endpoints.ts'
import { PLUGIN_ENDPOINTS } from './plugin-endpoints.ts'
import { POLICY_ENDPOINTS } from './policy-endpoints.ts'
import { QUOTA_ENDPOINTS } from './quota-endpoints.ts'
import { RAW_ENDPOINTS } from './raw-endpoints.ts'
import { REKEY_ENDPOINTS } from './rekey-endpoints.ts'
import { REMOUNT_ENDPOINTS } from './remount-endpoints.ts'
import { resultantAcl } from './resultant-acl-endpoint.ts'
import { SEAL_ENDPOINTS } from './seal-endpoints.ts'
import { SNAPSHOT_ENDPOINTS } from './snapshot-endpoints.ts'
import { STATUS_ENDPOINTS } from './status-endpoints.ts'
import { TOOLS_ENDPOINTS } from './tools-endpoints.ts'
import { UI_HEADER_ENDPOINTS } from './ui-header-endpoints.ts'
import { UI_MOUNT_ENDPOINTS } from './ui-mount-endpoints.ts'
import { versionHistory } from './version-history-endpoint.ts'
import { WRAPPING_ENDPOINTS } from './wrapping-endpoints.ts'

export const SYSTEM_ENDPOINTS: readonly Endpoint[] = [
  ...SEAL_ENDPOINTS,
  ...STATUS_ENDPOINTS,
  ...HARDENING_ENDPOINTS,
  ...KEYRING_ENDPOINTS,
  ...REKEY_ENDPOINTS,
  ...GENERATE_ROOT_ENDPOINTS,
  ...SNAPSHOT_ENDPOINTS,
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
  ...CONFIG_ENDPOINTS,
  ...CORS_ENDPOINTS,
  ...UI_HEADER_ENDPOINTS,
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
