// The stanza `storage`: where the data are, and how far back the log of changes is kept.
import { ConfigError, only, requireKnown, secondsIn, single } from './config-values.ts'
import type { HclObject } from './lib/hcl.ts'
import { DEFAULT_RETENTION, type Retention } from './storage/retention.ts'

export type StorageConfig =
  | { readonly type: 'sqlite'; readonly directory: string; readonly retention?: Retention | undefined }
  | { readonly type: 'inmem' }

const STORAGE_TYPES = ['sqlite', 'inmem']

export function storageOf(body: HclObject): { readonly storage?: StorageConfig } {
  const block = only(body, 'storage')
  if (block === undefined) return {}
  const [type] = block.labels
  if (type === 'inmem') {
    requireKnown(block.body, [], 'storage "inmem"')
    return { storage: { type } }
  }
  if (type !== 'sqlite')
    throw new ConfigError(
      `line ${block.line}: the storage "${type}" is not offered, use one of ${STORAGE_TYPES.join(', ')}`,
    )
  requireKnown(block.body, ['path', 'log_retention_bytes', 'log_retention_time'], 'storage "sqlite"')
  const path = single(block.body, 'path')
  if (typeof path !== 'string' || path === '')
    throw new ConfigError(`line ${block.line}: storage "sqlite" needs path, a directory`)
  return { storage: { type, directory: path, ...retentionOf(block.body) } }
}

/** How far back the log is kept, by what is reached first; 0 or missing: the default. */
function retentionOf(body: HclObject): { readonly retention?: Retention } {
  const bytes = single(body, 'log_retention_bytes')
  if (bytes !== undefined && (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)) {
    throw new ConfigError('"log_retention_bytes" must be a number of bytes')
  }
  const seconds = secondsIn(body, 'log_retention_time')
  if (bytes === undefined && seconds === undefined) return {}
  return {
    retention: {
      bytes: bytes === undefined || bytes === 0 ? DEFAULT_RETENTION.bytes : bytes,
      ms: seconds === undefined || seconds === 0 ? DEFAULT_RETENTION.ms : seconds * 1000,
    },
  }
}
