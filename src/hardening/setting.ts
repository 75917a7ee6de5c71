// The configuration as the checks see it: plain data, so that it can go to another thread.
import { type StorageConfig, storeLocation } from '../storage/drivers.ts'

/** A listener of the configuration, as far as checks ask about it. */
export type ListenerFacts = {
  /** Address as the configuration has it: host:port. */
  readonly address: string
  /** True if only this machine reaches the address. */
  readonly isLocal: boolean
  /** True if `tls_disable` is set. */
  readonly isTlsDisabled: boolean
  readonly certFile: string | undefined
  readonly keyFile: string | undefined
}

/** Result of a search for root tokens in the store. */
export type RootTokens = {
  readonly found: number
  /** How many tokens were looked at. */
  readonly looked: number
  /** True if there are more tokens than were looked at. */
  readonly isPartial: boolean
}

/**
 * The facts of the configuration and the open server that checks may use. The start makes them (`src/process`);
 * `sys/hardening` adds those that only an unsealed server knows.
 */
export type HardeningSetting = {
  readonly isDevelopment: boolean
  /** True if `strict_hardening` is set: what would be a warning keeps the server from starting. */
  readonly isStrict: boolean
  /** True if `require_audit` is set: the server refuses to start without a declared audit device. */
  readonly isAuditRequired: boolean
  /** Files and folders that the configuration was read from; empty if there are none. */
  readonly configFiles: readonly string[]
  /** Names of settings whose value is a secret that stands in the file itself. */
  readonly inlineSecrets: readonly string[]
  /** Files and folders of the program. */
  readonly program: readonly string[]
  readonly storage: StorageConfig
  readonly listeners: readonly ListenerFacts[]
  /** Number of serving threads; each takes memory (B-12). */
  readonly threads: number
  /** Memory that the bodies of all requests may take together. */
  readonly maxBodyBytes: number
  /** Audit devices that are enabled; undefined if only the store knows them, which is sealed. */
  readonly auditDevices: readonly string[] | undefined
  /** True if the configuration declares an audit device. */
  readonly isAuditDeclared: boolean
  /** Files that declared audit devices write to. */
  readonly auditFiles: readonly string[]
  /** Root tokens found among the tokens that were looked at; undefined while the server is sealed. */
  readonly rootTokens: RootTokens | undefined
}

/** Returns the directory of the store; undefined if nothing is stored. */
export function dataDirectoryOf({ storage }: HardeningSetting): string | undefined {
  return storeLocation(storage).durable?.directory
}
