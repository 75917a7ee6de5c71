// What the checks are told of the configuration: plain data, so that it can go to another thread.
import { type StorageConfig, storeLocation } from '../storage/drivers.ts'

export type ListenerFacts = {
  /** As the configuration says it: host:port. */
  readonly address: string
  /** Only this machine reaches it. */
  readonly isLocal: boolean
  /** `tls_disable`. */
  readonly isTlsDisabled: boolean
  readonly certFile: string | undefined
  readonly keyFile: string | undefined
}

export type RootTokens = {
  readonly found: number
  /** Of how many tokens that was told. */
  readonly looked: number
  /** There are more tokens. */
  readonly isPartial: boolean
}

export type HardeningSetting = {
  readonly isDevelopment: boolean
  /** `strict_hardening`: what would be a warning keeps the server from starting. */
  readonly isStrict: boolean
  /** `require_audit` */
  readonly isAuditRequired: boolean
  /** Undefined without a file. */
  readonly configFiles: readonly string[]
  /** Names of settings whose value is a secret that stands in the file itself. */
  readonly inlineSecrets: readonly string[]
  /** Files and folders of the program. */
  readonly program: readonly string[]
  readonly storage: StorageConfig
  readonly listeners: readonly ListenerFacts[]
  /** Threads that serve. */
  readonly threads: number
  /** What the bodies of requests may take at once. */
  readonly maxBodyBytes: number
  /** Audit devices that are on; undefined where only the store knows, which is sealed. */
  readonly auditDevices: readonly string[] | undefined
  /** The configuration declares an audit device. */
  readonly isAuditDeclared: boolean
  /** Files that declared audit devices write to. */
  readonly auditFiles: readonly string[]
  /** Root tokens that were found among the tokens that were looked at; undefined while the server is sealed. */
  readonly rootTokens: RootTokens | undefined
}

/** Undefined where nothing is stored. */
export function dataDirectoryOf({ storage }: HardeningSetting): string | undefined {
  return storeLocation(storage).durable?.directory
}
