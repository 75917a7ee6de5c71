// The stanza `storage`: where the data are, and how far back the log of changes is kept.

import type { HclObject } from '../lib/hcl.ts'
import { DEFAULT_RETENTION, type Retention } from '../storage/log/retention.ts'
import { type Stanza, setting } from './setting.ts'
import { ConfigError, checkKeys, integerIn, only, secondsIn, single } from './values.ts'

export type StorageConfig =
  | { readonly type: 'sqlite'; readonly directory: string; readonly retention?: Retention | undefined }
  | { readonly type: 'inmem' }

export const STORAGE_STANZA: Stanza = {
  title: 'storage "sqlite"',
  about: 'A directory of its own. `storage "inmem" {}` has no keys, and forgets everything when the server ends.',
  settings: {
    path: setting('path', 'needed', 'The directory; made where it is not there'),
    log_retention_bytes: setting('bytes', '1073741824', 'How far back the log of changes is kept; 0: the default'),
    log_retention_time: setting('duration', '24h', 'The same by time; what is reached first counts'),
  },
}

const STORAGE_TYPES = ['sqlite', 'inmem']

export function storageOf(body: HclObject): { readonly storage?: StorageConfig } {
  const block = only(body, 'storage')
  if (block === undefined) return {}
  const [type] = block.labels
  if (type === 'inmem') {
    checkKeys(block.body, {}, 'storage "inmem"')
    return { storage: { type } }
  }
  if (type !== 'sqlite')
    throw new ConfigError(
      `line ${block.line}: the storage "${type}" is not offered, use one of ${STORAGE_TYPES.join(', ')}`,
    )
  checkKeys(block.body, STORAGE_STANZA.settings, STORAGE_STANZA.title)
  const path = single(block.body, 'path')
  if (typeof path !== 'string' || path === '')
    throw new ConfigError(`line ${block.line}: storage "sqlite" needs path, a directory`)
  return { storage: { type, directory: path, ...retentionOf(block.body) } }
}

/** How far back the log is kept, by what is reached first; 0 or missing: the default. */
function retentionOf(body: HclObject): { readonly retention?: Retention } {
  const bytes = integerIn(body, 'log_retention_bytes', 'a number of bytes')
  if (bytes !== undefined && bytes < 0) throw new ConfigError('"log_retention_bytes" must be a number of bytes')
  const seconds = secondsIn(body, 'log_retention_time')
  if (bytes === undefined && seconds === undefined) return {}
  return {
    retention: {
      bytes: bytes === undefined || bytes === 0 ? DEFAULT_RETENTION.bytes : bytes,
      ms: seconds === undefined || seconds === 0 ? DEFAULT_RETENTION.ms : seconds * 1000,
    },
  }
}
