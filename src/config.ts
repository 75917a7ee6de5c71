// The configuration file, in HCL or JSON, with the names that operators know. Strict: an unknown key stops the start.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { AuditSettings } from './audit/device-changes.ts'
import { AUDIT_KEYS, auditOf } from './config-audit.ts'
import { type ListenerConfig, listenerOf } from './config-listener.ts'
import { sealOf } from './config-seal.ts'
import { type StorageConfig, storageOf } from './config-storage.ts'
import { ConfigError, requireKnown, secondsIn, single, switchOf } from './config-values.ts'
import { DEFAULT_LIMITS } from './http/listener.ts'
import { isDigit } from './lib/ascii.ts'
import { HclError, type HclObject, itemsOf, parseHcl } from './lib/hcl.ts'
import type { StaticSealConfig } from './static-seal.ts'
import type { ServerFacts } from './system/system.ts'

export type ServerConfig = ListenerConfig & {
  /** Threads that serve requests. */
  readonly threads: number
  readonly storage: StorageConfig
  readonly apiAddress: string
  readonly clusterName: string
  readonly reportedVersion: string
  readonly defaultTtlSeconds: number
  readonly maxTtlSeconds: number
  /** Undefined: shares open the server. */
  readonly seal: StaticSealConfig | undefined
  /** Whether a 403 tells the holder of a valid token what its policies lack. */
  readonly permissionHints: boolean
  readonly audit: AuditSettings
}

/** What the endpoints show of it. */
export const factsOf = (config: ServerConfig, storageType: string): ServerFacts => ({
  reportedVersion: config.reportedVersion,
  storageType,
  apiAddress: config.apiAddress,
  clusterName: config.clusterName,
  tokenAskedFor: config.tokenAskedFor,
  permissionHints: config.permissionHints,
})

export const DEFAULT_CONFIG: ServerConfig = {
  threads: availableParallelism(),
  host: '127.0.0.1',
  port: 8200,
  limits: DEFAULT_LIMITS,
  storage: { type: 'sqlite', directory: './data' },
  apiAddress: '',
  clusterName: '',
  reportedVersion: '1.21.0',
  defaultTtlSeconds: 768 * 3600,
  maxTtlSeconds: 768 * 3600,
  seal: undefined,
  tokenAskedFor: { generateRoot: false, rekey: false },
  permissionHints: true,
  audit: { declared: [], allowsApi: true },
}

/** @throws ConfigError */
export function readConfigFile(path: string): Partial<ServerConfig> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new ConfigError(`The configuration file ${path} cannot be read (${(cause as NodeJS.ErrnoException).code})`)
  }
  try {
    return parseConfig(text)
  } catch (cause) {
    if (cause instanceof HclError || cause instanceof ConfigError) throw new ConfigError(`${path}: ${cause.message}`)
    throw cause
  }
}

const HINTS = 'permission_denied_hints'
const TOP_KEYS = [
  'threads',
  'listener',
  'storage',
  'seal',
  'api_addr',
  'cluster_name',
  'reported_version',
  'default_lease_ttl',
  'max_lease_ttl',
  HINTS,
  'disable_mlock',
  ...AUDIT_KEYS,
]

/** @throws HclError, ConfigError */
export function parseConfig(text: string): Partial<ServerConfig> {
  const body = parseHcl(text)
  requireKnown(body, TOP_KEYS, 'the configuration')
  const config = {
    ...threadsOf(body),
    ...listenerOf(body),
    ...storageOf(body),
    ...sealOf(body),
    ...auditOf(body),
    ...textOf(body, 'api_addr', 'apiAddress'),
    ...textOf(body, 'cluster_name', 'clusterName'),
    ...textOf(body, 'reported_version', 'reportedVersion'),
    ...secondsOf(body, 'default_lease_ttl', 'defaultTtlSeconds'),
    ...secondsOf(body, 'max_lease_ttl', 'maxTtlSeconds'),
    ...(itemsOf(body, HINTS).length === 0 ? {} : { permissionHints: switchOf(body, HINTS) }),
  }
  const { defaultTtlSeconds, maxTtlSeconds } = { ...DEFAULT_CONFIG, ...config }
  if (defaultTtlSeconds > maxTtlSeconds) {
    throw new ConfigError(
      `default_lease_ttl, ${defaultTtlSeconds} s, must not be longer than max_lease_ttl, ${maxTtlSeconds} s`,
    )
  }
  return config
}

export const MAX_THREADS = 256

function threadsOf(body: HclObject): Partial<ServerConfig> {
  const threads = single(body, 'threads')
  if (threads === undefined) return {}
  if (typeof threads !== 'number' || !Number.isInteger(threads) || threads < 1 || threads > MAX_THREADS) {
    throw new ConfigError(`threads must be a number from 1 to ${MAX_THREADS}`)
  }
  return { threads }
}

function textOf<K extends 'apiAddress' | 'clusterName' | 'reportedVersion'>(
  body: HclObject,
  key: string,
  name: K,
): Partial<ServerConfig> {
  const value = single(body, key)
  if (value === undefined) return {}
  if (typeof value !== 'string') throw new ConfigError(`"${key}" must be text`)
  if (name === 'reportedVersion' && !isSemanticVersion(value))
    throw new ConfigError(`"${key}" must be a version such as 1.21.0`)
  return { [name]: value }
}

function isSemanticVersion(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 3 && parts.every((part) => part !== '' && part.length < 10 && [...part].every(isDigit))
}

function secondsOf<K extends 'defaultTtlSeconds' | 'maxTtlSeconds'>(
  body: HclObject,
  key: string,
  name: K,
): Partial<ServerConfig> {
  const seconds = secondsIn(body, key)
  return seconds === undefined || seconds === 0 ? {} : { [name]: seconds }
}
