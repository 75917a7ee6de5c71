// Endpoints for keys that come from elsewhere or go there.
import { BACKUP_ENDPOINTS } from './backup-endpoints.ts'
import { EXPORT_ENDPOINTS } from './export-endpoint.ts'
import { IMPORT_ENDPOINTS } from './import-endpoints.ts'
import { WRAPPED_EXPORT_ENDPOINTS } from './wrapped-export-endpoints.ts'

/** Wrapped export, import, export, backup and restore. */
export const IMPORT_EXPORT_ENDPOINTS = [
  ...WRAPPED_EXPORT_ENDPOINTS,
  ...IMPORT_ENDPOINTS,
  ...EXPORT_ENDPOINTS,
  ...BACKUP_ENDPOINTS,
]
