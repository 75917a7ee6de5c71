// All endpoints under sys/, in one list.
import type { Endpoint } from '../api/endpoint.ts'
import { AUDIT_ENDPOINTS } from './audit-endpoints.ts'
import { CAPABILITY_ENDPOINTS } from './capability-endpoints.ts'
import { EXPLAIN_ENDPOINTS } from './explain-endpoints.ts'
import { GENERATE_ROOT_ENDPOINTS } from './generate-root-endpoints.ts'
import { KEYRING_ENDPOINTS } from './keyring-endpoints.ts'
import { LEASE_ENDPOINTS } from './lease-endpoints.ts'
import { MOUNT_ENDPOINTS } from './mount-endpoints.ts'
import { POLICY_ENDPOINTS } from './policy-endpoints.ts'
import { REKEY_ENDPOINTS } from './rekey-endpoints.ts'
import { REMOUNT_ENDPOINTS } from './remount-endpoints.ts'
import { resultantAcl } from './resultant-acl-endpoint.ts'
import { SEAL_ENDPOINTS } from './seal-endpoints.ts'
import { SNAPSHOT_ENDPOINTS } from './snapshot-endpoints.ts'
import { STATUS_ENDPOINTS } from './status-endpoints.ts'
import { UI_MOUNT_ENDPOINTS } from './ui-mount-endpoints.ts'
import { WRAPPING_ENDPOINTS } from './wrapping-endpoints.ts'

export const SYSTEM_ENDPOINTS: readonly Endpoint[] = [
  ...SEAL_ENDPOINTS,
  ...STATUS_ENDPOINTS,
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
  ...WRAPPING_ENDPOINTS,
  ...AUDIT_ENDPOINTS,
  resultantAcl,
]
