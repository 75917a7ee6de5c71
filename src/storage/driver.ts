// What a kind of storage is to the rest of the program: a row of the table in drivers.ts. The rows are all that names
// it; whoever opens, checks, restores or describes a store does so through these types.
//
//   StorageDriver   reads its stanza of the configuration, and leads to
//   StoreLocation   where one store is, as the configuration says: opens it for the one thread that writes
//   DurableLocation the same where the data outlive the process: readers beside the writer, checks, restores

import type { Random } from '../lib/world.ts'
import type { StoreOptions } from './commit/transactional-store.ts'
import type { ReadStore, Store, StoredEntry, TreeRoots } from './contract.ts'
import type { VerifyKeys } from './verify-keys.ts'

/** `Config` is plain data, since it goes to other threads; its `type` is the name of the driver. */
export interface StorageDriver<Config extends { readonly type: string }> {
  /** What an operator calls it: `storage "NAME"`. */
  readonly type: Config['type']
  /** For the page of the configuration: one or two sentences. */
  readonly about: string
  /** The keys of its stanza; every other one is refused. */
  readonly settings: Readonly<Record<string, StorageSetting>>
  /** @throws what the stanza makes of a fault */
  configure(stanza: StorageStanza): Config
  locate(config: Config): StoreLocation
}

/** A key of the stanza, as the page of the configuration shows it. */
export type StorageSetting = {
  readonly type: string
  /** What counts where the key is missing. */
  readonly default: string
  readonly effect: string
}

/** A stanza that is being read. Each reader throws where the value is not of its kind, and gives undefined for none. */
export type StorageStanza = {
  single(key: string): string | number | bigint | boolean | null | undefined
  /** A whole number that is not negative; `what` says so to who wrote another. */
  count(key: string, what: string): number | undefined
  seconds(key: string): number | undefined
  /** To be thrown; the sentence goes on from the name of the stanza: 'needs path, a directory'. */
  fault(sentence: string): Error
}

export interface StoreLocation {
  /** Goes on from "data": 'in ./data', 'in memory'. */
  readonly where: string
  /** As `sys/config/state` shows it: with the names of the stanza, and nothing that is secret. */
  readonly shown: Readonly<Record<string, string | number>>
  /** For the one thread that writes. Makes the store where there is none. @throws StorageError, in a sentence */
  open(options: OpenOptions): Promise<Store>
  /** Undefined where the data are gone with the process: one thread has them, and nobody else ever sees them. */
  readonly durable: DurableLocation | undefined
}

/** How far back the log is kept is the configuration's matter. */
export type OpenOptions = Omit<StoreOptions, 'retention'> & { readonly random: Random }

export interface DurableLocation extends StoreLocation {
  /** Of this server alone, for what must not be lost with the process: the store, or what this node keeps of it. */
  readonly directory: string
  /** For the threads that only read, beside the writer or on their own. @throws StorageError where there is no store */
  openReader(): Promise<ReadStore>
  /** To look into a store that may be damaged: the contents are not checked first. */
  openUnchecked(): Promise<ReadStore>
  /** Changes nothing; a server may be running. @throws StorageError where there is nothing that could be checked */
  verify(options: StoreVerifyOptions): Promise<StoreVerifyReport>
  /** Not for the process that serves the store: while it is restored, nobody else may open it. */
  summary(): Promise<StoreSummary>
  /** A process has the store open. @throws StorageError, or the system's error, where that cannot be told */
  isInUse(): Promise<boolean>
  /** How long a write takes until it is durable, in milliseconds. @throws the system's error */
  measureSync(monotonicMs: () => number): Promise<number>
  /** For figures, so at once; 0 for what is not there. */
  bytes(): StoredBytes
  readonly staging: Staging
}

export type StoredBytes = {
  readonly database: number
  /** What is durable and not yet in the database. */
  readonly journal: number
}

/** What can be told of a store in moments, without its keys and without changing it. */
export type StoreSummary =
  | { readonly kind: 'none' }
  /** `fault` is a sentence: it cannot be opened so. */
  | { readonly kind: 'damaged'; readonly fault: string }
  | {
      readonly kind: 'sound'
      /** A process has it open. */
      readonly isInUse: boolean
      readonly databaseBytes: number
      /** What a server that was not stopped left to be moved into the database, or is about to. */
      readonly journalBytes: number
      /** Of the last change; 0 and undefined where there is none. */
      readonly index: number
      readonly committedAtMs: number | undefined
    }

/**
 * A second store beside the one that is used. A snapshot is written to it and checked there as a whole; only then does
 * it take the place of the other. What fails before leaves that one untouched.
 */
export interface Staging {
  /** Makes an empty one, whose log begins with this history; what was left of another is dropped. */
  begin(historyId: Buffer): Promise<StagedWriter>
  /** Gives it its place in the order of changes and makes it durable. In any thread, once the writer is closed. */
  settle(at: StagedPosition): Promise<void>
  /** What was settled, as it lies there. */
  verify(options: StoreVerifyOptions): Promise<StoreVerifyReport>
  /** It becomes the store. Nothing may have the old one open. @throws StorageFailed, the old one stays */
  adopt(): Promise<void>
  /** Nothing is left of it, whatever there was. */
  drop(): Promise<void>
}

/** A history of its own: nobody takes its changes for those that it replaces. */
export type StagedPosition = { readonly index: number; readonly epoch: number }

export interface StagedWriter {
  /** In key order. @throws StorageFull where there is no room */
  write(entries: readonly StoredEntry[]): Promise<void>
  close(): Promise<void>
}

export type StoreVerifyOptions = {
  /** Without them what is sealed is not opened, and leaves and tree are not checked. */
  readonly keys: VerifyKeys | undefined
  readonly onFinding: (sentence: string) => void
  /** After every few hundred entries or records. */
  readonly onProgress?: (progress: VerifyProgress) => void
}

export type VerifyProgress = {
  readonly entries: number
  readonly allEntries: number
  readonly records: number
  readonly allRecords: number
}

export type StoreVerifyReport = {
  /** Of the last change. */
  readonly index: number
  readonly entries: number
  readonly records: number
  readonly findings: number
  /** Of the entries, where keys were given. */
  readonly roots: TreeRoots | undefined
  /** Sentences about what could not be checked, and why. */
  readonly unchecked: readonly string[]
}
