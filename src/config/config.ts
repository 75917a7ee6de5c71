// The configuration, in HCL or JSON, with the names that operators know. It is strict: an unknown key stops the start
// (threats E-14), since a mistyped limit or TLS key would silently leave the default in force.
import { availableParallelism } from 'node:os'
import { DEFAULT_EDITION, type Edition } from '../api/edition.ts'
import type { AuditSettings } from '../audit/device-changes.ts'
import { DEFAULT_KEPT_LIMITS, type KeptLimits } from '../auth/kept-values.ts'
import type { HardeningFound } from '../hardening/report.ts'
import { DEFAULT_LIMITS, DEFAULT_SERVER_LIMITS, type ServerLimits } from '../http/limits.ts'
import { isDigit } from '../lib/ascii.ts'
import { itemsOf, parseHcl } from '../lib/hcl.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { dictionary } from '../lib/own.ts'
import { DEFAULT_STORAGE, type StorageConfig } from '../storage/drivers.ts'
import { addressText } from './address-text.ts'
import { auditOf } from './audit.ts'
import { type CloudConfigured, cloudsOf } from './cloud.ts'
import { clusterAddrOf, defaultClusterAddr, settledClusterAddresses } from './cluster-address.ts'
import { editionOf } from './edition.ts'
import { type HardeningConfig, hardeningOf, NO_HARDENING } from './hardening.ts'
import { keptOf } from './kept.ts'
import { type KmsLibrary, kmsLibrariesOf } from './kms-library.ts'
import { type SharedLimits, settledLimits, sharedLimitsOf } from './limits.ts'
import { type GivenListener, type ListenerConfig, listenersOf } from './listener.ts'
import { DEFAULT_LOG, type LogConfig, logOf } from './log.ts'
import { DEFAULT_REPLICATION, type ReplicationConfig, replicationOf } from './replication.ts'
import { type StaticSealConfig, sealOf } from './seal.ts'
import { storageOf } from './storage.ts'
import { NO_TELEMETRY, type TelemetryConfig, telemetryOf } from './telemetry.ts'
import { TOP_STANZA } from './top.ts'
import { ConfigError, checkKeys, Faults, integerIn, secondsIn, switchOf, textIn } from './values.ts'

/** The whole configuration with its defaults. It is plain data: every thread is handed a copy. */
export type ServerConfig = {
  readonly listeners: readonly ListenerConfig[]
  /** Limits of all listeners together. */
  readonly limits: ServerLimits
  /** Threads that serve requests; the writing thread comes on top. */
  readonly threads: number
  readonly storage: StorageConfig
  readonly apiAddress: string
  /** What other clusters are told; '' if it is not known (cluster-address.ts). */
  readonly clusterAddress: string
  readonly replication: ReplicationConfig
  readonly clusterName: string
  readonly reportedVersion: string
  readonly defaultTtlSeconds: number
  readonly maxTtlSeconds: number
  /** Limits of what is kept for callers: cubbyholes and wrapped answers. */
  readonly kept: KeptLimits
  /** The key that opens the server; undefined if shares do. */
  readonly seal: StaticSealConfig | undefined
  /** Libraries of PKCS #11 devices, for managed keys (docs/decisions/0010-pkcs11.md). */
  readonly kmsLibraries: readonly KmsLibrary[]
  readonly edition: Edition
  /** Whether a 403 tells the holder of a valid token what its policies lack. */
  readonly permissionHints: boolean
  /** Whether sys/raw is offered. */
  readonly rawStorage: boolean
  readonly logging: LogConfig
  readonly telemetry: TelemetryConfig
  readonly hardening: HardeningConfig
  /** Results of the checks at the start; undefined if none were made. */
  readonly hardeningFound?: HardeningFound
  readonly audit: AuditSettings
  /** Clouds besides those of the vendor. */
  readonly clouds: readonly CloudConfigured[]
  readonly pidFile: string | undefined
  /** Sentences for the log: keys that do nothing, and settings that are unwise. */
  readonly warnings: readonly string[]
}

/** Parts that several keys make. The keys may stand in different files, so the parts are joined member by member. */
const JOINED_PARTS = ['logging', 'hardening', 'audit', 'sharedLimits', 'kept'] as const
type JoinedPart = (typeof JOINED_PARTS)[number]

/** The content of one file. Lists of several files are appended; every other key stands in one file only. */
export type ConfigPart = Partial<Omit<ServerConfig, 'listeners' | 'limits' | JoinedPart>> & {
  readonly logging?: Partial<LogConfig>
  readonly hardening?: Partial<HardeningConfig>
  readonly kept?: Partial<KeptLimits>
  readonly audit?: Partial<AuditSettings>
  readonly listeners?: readonly GivenListener[]
  readonly sharedLimits?: SharedLimits
}

const DEFAULT_LISTENER: ListenerConfig = {
  address: { kind: 'tcp', host: '127.0.0.1', port: 8200 },
  clusterAddress: { host: '127.0.0.1', port: 8201 },
  rules: {
    limits: DEFAULT_LIMITS,
    tls: undefined,
    forwarded: undefined,
    proxy: undefined,
    headers: {},
    switches: undefined,
  },
}

/** The default listener sets no duration of its own, so `default_max_request_duration` holds for it. */
const DEFAULT_LISTENER_INPUT: GivenListener = {
  address: DEFAULT_LISTENER.address,
  rules: { ...DEFAULT_LISTENER.rules, limits: { ...DEFAULT_LIMITS, maxRequestMs: undefined } },
}

/**
 * Returns the default number of serving threads. One core is left to the writing thread, the pool, the garbage
 * collector and the kernel. On two cores one thread more gives a quarter more requests a second, and each of them
 * costs more and waits longer (docs/performance.md).
 */
export const servingThreadsFor = (cores: number): number => Math.max(1, cores - 1)

/** The configuration of a server that is told nothing, and the defaults of every other. */
export const DEFAULT_CONFIG: ServerConfig = {
  threads: servingThreadsFor(availableParallelism()),
  listeners: [DEFAULT_LISTENER],
  limits: DEFAULT_SERVER_LIMITS,
  storage: DEFAULT_STORAGE,
  apiAddress: '',
  clusterAddress: 'https://127.0.0.1:8201',
  replication: DEFAULT_REPLICATION,
  clusterName: '',
  // The version of the reference that clients are told.
  reportedVersion: '1.21.0',
  // 32 days, as the reference has it.
  defaultTtlSeconds: 768 * 3600,
  maxTtlSeconds: 768 * 3600,
  kept: DEFAULT_KEPT_LIMITS,
  seal: undefined,
  kmsLibraries: [],
  edition: DEFAULT_EDITION,
  permissionHints: true,
  rawStorage: false,
  logging: DEFAULT_LOG,
  telemetry: NO_TELEMETRY,
  hardening: NO_HARDENING,
  audit: { declared: [], allowsApi: true },
  clouds: [],
  pidFile: undefined,
  warnings: [],
}

/** Rules that depend on who starts the server. */
export type ParseOptions = {
  /** Accepts a listener that has neither a certificate nor `tls_disable`, as the development server does. */
  readonly isPlainAllowed: boolean
}
const STRICT: ParseOptions = { isPlainAllowed: false }

/** Parses the text of one file. @throws HclError for its syntax, ConfigError with all that is wrong in it */
export function parseConfig(text: string, options = STRICT): ConfigPart {
  return parseConfigBody(parseHcl(text), options)
}

/** Reads one parsed file. Every part is read even after a fault, so all are told at once. @throws ConfigError */
export function parseConfigBody(body: HclObject, { isPlainAllowed }: ParseOptions): ConfigPart {
  const faults = new Faults()
  const warnings = faults.collect(() => checkKeys(body, TOP_STANZA.settings, 'the configuration')) ?? []
  const parts = [
    () => threadsOf(body),
    () => listenersOf(body, isPlainAllowed),
    () => sharedLimitsPart(body),
    () => keptOf(body),
    () => storageOf(body),
    () => sealOf(body),
    () => kmsLibrariesOf(body),
    () => logOf(body),
    () => telemetryOf(body),
    () => hardeningOf(body),
    () => auditOf(body),
    () => cloudsOf(body),
    () => apiAddressOf(body),
    () => clusterAddressOf(body),
    () => replicationOf(body),
    () => textOf(body, 'cluster_name', 'clusterName'),
    () => versionOf(body),
    () => secondsOf(body, 'default_lease_ttl', 'defaultTtlSeconds'),
    () => secondsOf(body, 'max_lease_ttl', 'maxTtlSeconds'),
    () => editionOf(body),
    () => textOf(body, 'pid_file', 'pidFile'),
    () => (itemsOf(body, HINTS).length === 0 ? {} : { permissionHints: switchOf(body, HINTS) }),
    () => (itemsOf(body, RAW).length === 0 ? {} : { rawStorage: switchOf(body, RAW) }),
  ].map((read) => faults.collect<ConfigPart>(read) ?? {})
  faults.end()
  return mergeParts([...(warnings.length === 0 ? [] : [{ warnings }]), ...parts])
}

/** Joins files: lists are appended, JOINED_PARTS merged by member; of everything else the last one counts. */
export function mergeParts(parts: readonly ConfigPart[]): ConfigPart {
  const merged: Record<string, unknown> = merge(parts)
  for (const name of JOINED_PARTS) {
    const given = parts.flatMap((part) => part[name] ?? [])
    if (given.length > 0) merged[name] = merge(given)
  }
  return { ...merged }
}

function merge(parts: readonly object[]): Record<string, unknown> {
  const merged = dictionary<unknown>()
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    const before = merged[name]
    // An empty list must not look like a key that was given: it would replace the default.
    if (Array.isArray(value) && value.length === 0 && before === undefined) continue
    merged[name] = Array.isArray(before) ? [...before, ...(value as unknown[])] : value
  }
  return { ...merged }
}

/**
 * Adds the defaults, and makes the checks that need all files: order of lifetimes, addresses, shared limits.
 * @throws ConfigError
 */
export function settle({ listeners: given, sharedLimits = {}, ...part }: ConfigPart): ServerConfig {
  const config = {
    ...DEFAULT_CONFIG,
    ...part,
    logging: { ...DEFAULT_CONFIG.logging, ...part.logging },
    hardening: { ...DEFAULT_CONFIG.hardening, ...part.hardening },
    kept: { ...DEFAULT_CONFIG.kept, ...part.kept },
    audit: { ...DEFAULT_CONFIG.audit, ...part.audit },
  }
  const { defaultTtlSeconds, maxTtlSeconds } = config
  if (defaultTtlSeconds > maxTtlSeconds) {
    throw new ConfigError(
      `default_lease_ttl, ${defaultTtlSeconds} s, must not be longer than max_lease_ttl, ${maxTtlSeconds} s`,
    )
  }
  const listeners = given ?? [DEFAULT_LISTENER_INPUT]
  const texts = listeners.map(({ address }) => addressText(address))
  // Port 0 is a free port: any number of listeners may ask for one.
  const twice = texts.find((text, index) => !text.endsWith(':0') && texts.indexOf(text) !== index)
  if (twice !== undefined) throw new ConfigError(`Two listeners have the address ${twice}`)
  const limits = settledLimits(
    sharedLimits,
    listeners.map(({ rules }) => rules.limits),
  )
  const clusterAddresses = config.replication.isEnabled ? settledClusterAddresses(listeners) : []
  const settled = listeners.map(({ address, rules }, index): ListenerConfig => {
    const clusterAddress = clusterAddresses[index]
    return {
      address,
      ...(clusterAddress === undefined ? {} : { clusterAddress }),
      rules: { ...rules, limits: limits.listeners[index] ?? DEFAULT_LIMITS },
    }
  })
  const clusterAddress = part.clusterAddress ?? defaultClusterAddr({ ...config, listeners: settled })
  return { ...config, clusterAddress, limits: limits.shared, listeners: settled }
}

const HINTS = 'permission_denied_hints'
const RAW = 'raw_storage_endpoint'
/** A bound for mistakes of typing: each thread takes memory, and a row in every table that threads share. */
export const MAX_THREADS = 256

function threadsOf(body: HclObject): ConfigPart {
  const what = `a number from 1 to ${MAX_THREADS}`
  const threads = integerIn(body, 'threads', what)
  if (threads === undefined) return {}
  if (threads < 1 || threads > MAX_THREADS) throw new ConfigError(`"threads" must be ${what}`)
  return { threads }
}

function sharedLimitsPart(body: HclObject): ConfigPart {
  const sharedLimits = sharedLimitsOf(body)
  return Object.keys(sharedLimits).length === 0 ? {} : { sharedLimits }
}

function textOf(body: HclObject, key: string, name: 'clusterName' | 'pidFile'): ConfigPart {
  const text = textIn(body, key)
  return text === undefined ? {} : { [name]: text }
}

function apiAddressOf(body: HclObject): ConfigPart {
  const text = textIn(body, 'api_addr')
  if (text === undefined) return {}
  const url = URL.parse(text)
  // Paths are appended to the text as it was written, and the parser forgives blanks and a lone '?'.
  const isPlain = url !== null && url.username === '' && url.password === '' && !/[?#\s]/.test(text)
  if (!isPlain || !['http:', 'https:'].includes(url.protocol))
    throw new ConfigError('"api_addr" must be an address such as https://keys.example:8200')
  return { apiAddress: text }
}

function clusterAddressOf(body: HclObject): ConfigPart {
  const text = textIn(body, 'cluster_addr')
  return text === undefined ? {} : { clusterAddress: clusterAddrOf(text) }
}

function versionOf(body: HclObject): ConfigPart {
  const reportedVersion = textIn(body, 'reported_version')
  if (reportedVersion === undefined) return {}
  if (!isSemanticVersion(reportedVersion)) throw new ConfigError('"reported_version" must be a version such as 1.21.0')
  return { reportedVersion }
}

function isSemanticVersion(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 3 && parts.every((part) => part !== '' && part.length < 10 && [...part].every(isDigit))
}

/** 0 is the default, as with the reference. */
function secondsOf(body: HclObject, key: string, name: 'defaultTtlSeconds' | 'maxTtlSeconds'): ConfigPart {
  const seconds = secondsIn(body, key)
  return seconds === undefined || seconds === 0 ? {} : { [name]: seconds }
}
