// All endpoints of replication. A family in which operators can change something is a line here.
import type { Endpoint } from '../../api/endpoint.ts'
import { type FilterSystem, PATHS_FILTER_ENDPOINTS } from './paths-filter-endpoints.ts'
import { CHANGING_ENDPOINTS } from './replication-changing-endpoints.ts'
import type { ReplicationSystem } from './replication-family.ts'
import { withFormerPath } from './replication-former-paths.ts'
import { PERFORMANCE_CHANGING_ENDPOINTS } from './replication-performance-endpoints.ts'
import { primaryEndpoints } from './replication-primary-endpoints.ts'
import { secondaryEndpoints } from './replication-secondary-endpoints.ts'
import { REPLICATION_STATUS_ENDPOINTS, type StatusSystem } from './replication-status-endpoints.ts'
import { UNDONE_ENDPOINTS } from './replication-undone-endpoints.ts'

/** Status of both families, and their operations. */
export const REPLICATION_ENDPOINTS: readonly Endpoint<ReplicationSystem & StatusSystem & FilterSystem>[] = [
  ...REPLICATION_STATUS_ENDPOINTS,
  ...primaryEndpoints('dr'),
  ...secondaryEndpoints('dr'),
  ...CHANGING_ENDPOINTS,
  ...[
    ...primaryEndpoints('performance'),
    ...secondaryEndpoints('performance'),
    ...PERFORMANCE_CHANGING_ENDPOINTS,
  ].flatMap(withFormerPath),
  ...UNDONE_ENDPOINTS,
  ...PATHS_FILTER_ENDPOINTS,
]
