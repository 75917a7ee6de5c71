// What a kind of storage is to the rest of the program: a row of the table in drivers.ts. Only the rows name it. All
// code that opens, checks, restores or describes a store does so through these types.
//
//   StorageDriver   reads its stanza of the configuration, and leads to
//   StoreLocation   one store, as the configuration describes it: opens it for the one thread that writes
//   DurableLocation a store whose data outlive the process: readers beside the writer, checks, restores

import type { Random } from '../lib/world.ts'
import type { StoreOptions } from './commit/transactional-store.ts'
import type { ReadStore, Store, StoredEntry, TreeRoots } from './contract.ts'
import type { History } from './peer-log.ts'
import type { VerifyKeys } from './verify-keys.ts'

/** One kind of storage. `Config` is plain data, since it is sent to other threads; its `type` is the driver's name. */
export interface StorageDriver<Config extends { readonly type: string }> {
  /** The name that an operator writes: `storage "NAME"`. */
  readonly type: Config['type']
  /** One or two sentences for docs/configuration.md. */
  readonly about: string
  /** The keys of its stanza; every other key is refused. */
  readonly settings: Readonly<Record<string, StorageSetting>>
  /** Reads the stanza. @throws what `stanza.fault` returns, and what its readers throw */
  configure(stanza: StorageStanza): Config
  /** Opens nothing and touches no file. */
  locate(config: Config): StoreLocation
}

/** A key of the stanza, as docs/configuration.md shows it. */
export type StorageSetting = {
  readonly type: string
  /** Used when the stanza does not set the key. */
  readonly default: string
  readonly effect: string
}

/**
 * A stanza that is being read. Each reader returns undefined if the stanza does not set the key, and throws if the
 * value is of another kind.
 */
export type StorageStanza = {
  /** A single value, no list and no block. */
  single(key: string): string | number | bigint | boolean | null | undefined
  /** A whole number that is not negative; `what` says in the error what the value must be. */
  count(key: string, what: string): number | undefined
  /** A duration in seconds. */
  seconds(key: string): number | undefined
  /** An error to throw; the sentence continues from the name of the stanza: 'needs path, a directory'. */
  fault(sentence: string): Error
}

/** One store, opened or not. Every thread makes its own from the `StorageConfig`. */
export interface StoreLocation {
  /** Continues a sentence from "data": 'in ./data', 'in memory'. */
  readonly where: string
  /** Shown by `sys/config/state`: the names are those of the stanza, and nothing in it is secret. */
  readonly shown: Readonly<Record<string, string | number>>
  /** Opens the store for the one thread that writes; makes it if there is none. @throws StorageError, in a sentence */
  open(options: OpenOptions): Promise<Store>
  /**
   * Leaves of the store these entries alone, in one step: a crash leaves all that was there, or these. Whatever else
   * the driver keeps of what was there goes too, after a crash with the next `open`. No connection may have the store
   * open. In memory the next `open` makes the store of them. @throws StorageError
   */
  leaveOnly(left: LeftStore): Promise<void>
  /** Undefined if the data are lost with the process: then one thread has them, and no other thread can read them. */
  readonly durable: DurableLocation | undefined
}

/** Options of `open`. Retention is not among them: the driver takes it from its stanza. */
export type OpenOptions = Omit<StoreOptions, 'retention' | 'holdCaps'> & { readonly random: Random }

/** A store that outlives the process. Several threads and commands may look at it beside the one that writes. */
export interface DurableLocation extends StoreLocation {
  /** A directory of this server alone, for what must survive the process: the store, or what this node keeps of it. */
  readonly directory: string
  /** Opens the store for a thread that only reads, beside a writer or not. @throws StorageError if there is no store */
  openReader(): Promise<ReadStore>
  /** Opens a store that may be damaged: its files are checked, not their contents. @throws StorageError as above */
  openUnchecked(): Promise<ReadStore>
  /** Checks the whole store and changes nothing; a server may be running. @throws StorageError if there is no store */
  verify(options: StoreVerifyOptions): Promise<StoreVerifyReport>
  /** Must not run in the process that serves the store: during a restore no other connection may open it. */
  summary(): Promise<StoreSummary>
  /** True if a process has the store open. @throws StorageError, or the system's error, if that cannot be told */
  isInUse(): Promise<boolean>
  /** Milliseconds until a small write is durable. @throws the system's error */
  measureSync(monotonicMs: () => number): Promise<number>
  /** Sizes for metrics, without waiting; 0 for a file that is not there. */
  bytes(): StoredBytes
  /** The second store that a restore writes. */
  readonly staging: Staging
}

/** Space that a store takes on the device. */
export type StoredBytes = {
  readonly database: number
  /** Durable, and not yet moved into the database. */
  readonly journal: number
}

/** What can be told about a store in moments, without its keys and without changing it. */
export type StoreSummary =
  | { readonly kind: 'none' }
  /** The store cannot be opened as it is; `fault` is a sentence that says why. */
  | { readonly kind: 'damaged'; readonly fault: string }
  | {
      readonly kind: 'sound'
      /** A process has the store open. */
      readonly isInUse: boolean
      readonly databaseBytes: number
      /** Commits not yet moved into the database: by a running server, or since one was killed. */
      readonly journalBytes: number
      /** Index and time of the last record; 0 and undefined if the log has none. */
      readonly index: number
      readonly committedAtMs: number | undefined
    }

/**
 * A second store beside the one in use. A snapshot is written to it and checked there as a whole; only then does it
 * replace the other. A failure before that leaves the store in use untouched (threats D-06).
 */
export interface Staging {
  /** Makes an empty store. Drops what was left of an earlier one. */
  begin(): Promise<StagedWriter>
  /** Sets the position of the staged store and makes it durable. Runs in any thread, once the writer is closed. */
  settle(at: StagedPosition): Promise<void>
  /** Checks the settled store as it lies on the device. */
  verify(options: StoreVerifyOptions): Promise<StoreVerifyReport>
  /** Makes it the store. No connection may have the old one open. @throws StorageFailed, and the old one stays */
  adopt(): Promise<void>
  /** Removes the staged store, whatever there is of it. */
  drop(): Promise<void>
}

/** Where the log of a staged store begins. The last of the histories is its own, so old and new changes stay apart. */
export type StagedPosition = { readonly index: number; readonly histories: readonly History[] }

/** All that a store is left with: entries in key order, few enough to be in memory, and where its log begins. */
export type LeftStore = StagedPosition & { readonly entries: readonly StoredEntry[] }

/** Fills a staged store. */
export interface StagedWriter {
  /** Takes entries in key order. They are durable only after `settle`. @throws StorageFull if there is no room */
  write(entries: readonly StoredEntry[]): Promise<void>
  close(): Promise<void>
}

/** What a check is given, and where it reports. */
export type StoreVerifyOptions = {
  /** If undefined, sealed values are not opened, and leaves and tree are not checked. */
  readonly keys: VerifyKeys | undefined
  /** Called for each entry that has the form of one, in key order. */
  readonly onEntry?: (entry: StoredEntry) => void
  /** Called for each fault, with one sentence. The check goes on, so it must not throw. */
  readonly onFinding: (sentence: string) => void
  /** Called after every few hundred entries or records. */
  readonly onProgress?: (progress: VerifyProgress) => void
}

/** How far a check has come. The totals are counted at its start. */
export type VerifyProgress = {
  readonly entries: number
  readonly allEntries: number
  readonly records: number
  readonly allRecords: number
}

/** What a check read and found. */
export type StoreVerifyReport = {
  /** Index of the last change. */
  readonly index: number
  readonly entries: number
  readonly records: number
  readonly findings: number
  /** Roots computed from the entries; undefined if no keys were given. */
  readonly roots: TreeRoots | undefined
  /** Sentences about what could not be checked, and why. */
  readonly unchecked: readonly string[]
}
