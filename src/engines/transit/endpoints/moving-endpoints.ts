// Keys that come from elsewhere or go there.
import type { Endpoint } from '../../../api/endpoint.ts'
import { BACKUP_ENDPOINTS } from './backup-endpoints.ts'
import { EXPORT_ENDPOINTS } from './export-endpoint.ts'
import { IMPORT_ENDPOINTS } from './import-endpoints.ts'
import { WRAPPED_EXPORT_ENDPOINTS } from './wrapped-export-endpoints.ts'

export const MOVING_ENDPOINTS: readonly Endpoint[] = [
  ...WRAPPED_EXPORT_ENDPOINTS,
  ...IMPORT_ENDPOINTS,
  ...EXPORT_ENDPOINTS,
  ...BACKUP_ENDPOINTS,
]
