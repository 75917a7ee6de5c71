// SQLite as a kind of storage: a directory with the store, its journal and its lock
// (docs/decisions/0002-embedded-storage.md).
import type { ReadStore, Store } from '../contract.ts'
import { fileSystemBytes, measureSync } from '../data-directory.ts'
import type {
  DurableLocation,
  LeftStore,
  OpenOptions,
  Staging,
  StorageDriver,
  StorageStanza,
  StoredBytes,
  StoreLocation,
  StoreSummary,
  StoreVerifyOptions,
  StoreVerifyReport,
} from '../driver.ts'
import { DEFAULT_RETENTION, defaultHeldBytes, type Retention } from '../log/retention.ts'
import type { HoldCaps } from '../peer-log.ts'
import { isInUse, storedBytes } from './sqlite-files.ts'
import type { StoreRun } from './sqlite-migration.ts'
import { SqliteStaging } from './sqlite-staging.ts'

/** Plain data, which is sent to other threads. */
export type SqliteConfig = {
  readonly type: 'sqlite'
  readonly directory: string
  /** Default: DEFAULT_RETENTION. */
  readonly retention?: Retention | undefined
  /** A missing one is `defaultHeldBytes` of the file system. */
  readonly holdCaps?: Partial<HoldCaps> | undefined
}

const HELD_BYTES_DEFAULT = '10 GiB or a tenth of the file system'

/** The row of SQLite, the storage of servers. */
export const SQLITE_DRIVER: StorageDriver<SqliteConfig> = {
  type: 'sqlite',
  about: 'Stores the data in a directory, which holds nothing else.',
  settings: {
    path: { type: 'path', default: 'required', effect: 'Data directory; created if it is missing' },
    log_retention_bytes: {
      type: 'bytes',
      default: String(DEFAULT_RETENTION.bytes),
      effect: 'Maximum size of the retained log of changes; 0 is the default',
    },
    log_retention_time: {
      type: 'duration',
      default: '24h',
      effect: 'Maximum age of the retained log of changes; whichever limit is reached first applies',
    },
    log_retention_secondary_bytes: {
      type: 'bytes',
      default: HELD_BYTES_DEFAULT,
      effect: 'Maximum size of the log that is retained for secondaries beyond the limits above; 0 is the default',
    },
    log_retention_copy_bytes: {
      type: 'bytes',
      default: HELD_BYTES_DEFAULT,
      effect: 'Maximum size of the log that is retained while a secondary is being copied; 0 is the default',
    },
  },
  configure: (stanza) => {
    const path = stanza.single('path')
    if (typeof path !== 'string' || path === '') throw stanza.fault('needs path, a directory')
    return { type: 'sqlite', directory: path, ...retentionOf(stanza), ...holdCapsOf(stanza) }
  },
  locate: (config) => new SqliteLocation(config),
}

/** How far back the log is kept, by the limit that is reached first; 0 or missing: the default. */
function retentionOf(stanza: StorageStanza): Pick<SqliteConfig, 'retention'> {
  const bytes = stanza.count('log_retention_bytes', 'a number of bytes')
  const seconds = stanza.seconds('log_retention_time')
  if (bytes === undefined && seconds === undefined) return {}
  return {
    retention: {
      bytes: bytes === undefined || bytes === 0 ? DEFAULT_RETENTION.bytes : bytes,
      ms: seconds === undefined || seconds === 0 ? DEFAULT_RETENTION.ms : seconds * 1000,
    },
  }
}

/** How much of the log holds of each kind may keep; 0 or missing: the default, which depends on the file system. */
function holdCapsOf(stanza: StorageStanza): Pick<SqliteConfig, 'holdCaps'> {
  const secondary = stanza.count('log_retention_secondary_bytes', 'a number of bytes') ?? 0
  const copy = stanza.count('log_retention_copy_bytes', 'a number of bytes') ?? 0
  if (secondary === 0 && copy === 0) return {}
  return { holdCaps: { ...(secondary === 0 ? {} : { secondary }), ...(copy === 0 ? {} : { copy }) } }
}

/**
 * What a method needs is loaded when it is called: a thread that serves loads what reads, and nothing that writes or
 * checks, and the thread that watches loads neither.
 */
class SqliteLocation implements DurableLocation {
  readonly directory: string
  readonly staging: Staging
  readonly #retention: Retention
  readonly #holdCaps: Partial<HoldCaps>
  readonly #run: StoreRun = { hasMigrated: false }

  constructor({ directory, retention = DEFAULT_RETENTION, holdCaps = {} }: SqliteConfig) {
    this.directory = directory
    this.staging = new SqliteStaging(directory)
    this.#retention = retention
    this.#holdCaps = holdCaps
  }

  get durable(): DurableLocation {
    return this
  }

  get where(): string {
    return `in ${this.directory}`
  }

  get shown(): StoreLocation['shown'] {
    const { bytes, ms } = this.#retention
    const { secondary, copy } = this.#holdCaps
    return {
      type: 'sqlite',
      path: this.directory,
      log_retention_bytes: bytes,
      log_retention_time: ms / 1000,
      ...(secondary === undefined ? {} : { log_retention_secondary_bytes: secondary }),
      ...(copy === undefined ? {} : { log_retention_copy_bytes: copy }),
    }
  }

  async open(options: OpenOptions): Promise<Store> {
    const { openSqliteStore } = await import('./sqlite-store.ts')
    const { directory } = this
    const bytes = defaultHeldBytes(fileSystemBytes(directory))
    const holdCaps = { secondary: bytes, copy: bytes, ...this.#holdCaps }
    return openSqliteStore({ ...options, directory, run: this.#run, retention: this.#retention, holdCaps })
  }

  async openReader(): Promise<ReadStore> {
    const { openSqliteReader } = await import('./sqlite-reader.ts')
    return openSqliteReader(this.directory)
  }

  async openUnchecked(): Promise<ReadStore> {
    const { openUncheckedReader } = await import('./sqlite-reader.ts')
    return openUncheckedReader(this.directory)
  }

  async verify(options: StoreVerifyOptions): Promise<StoreVerifyReport> {
    const { verifyStore } = await import('../verify/verify.ts')
    return verifyStore({ ...options, directory: this.directory })
  }

  async summary(): Promise<StoreSummary> {
    const { summarizeStore } = await import('./store-summary.ts')
    return summarizeStore(this.directory)
  }

  async isInUse(): Promise<boolean> {
    return isInUse(this.directory)
  }

  async leaveOnly(left: LeftStore): Promise<void> {
    const { leaveOnly } = await import('./sqlite-leaving.ts')
    await leaveOnly(this.directory, left)
  }

  async measureSync(monotonicMs: () => number): Promise<number> {
    return measureSync(this.directory, monotonicMs)
  }

  bytes(): StoredBytes {
    return storedBytes(this.directory)
  }
}
