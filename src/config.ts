// The configuration file, in HCL or JSON, with the names that operators know. Strict: an unknown key stops the start.
import { readFileSync } from 'node:fs'
import { isIPv4, isIPv6 } from 'node:net'
import { availableParallelism } from 'node:os'
import { DEFAULT_LIMITS, type ListenerLimits } from './http/listener.ts'
import { DurationError, parseDurationSeconds } from './lib/duration.ts'
import { blocksOf, type HclBlock, HclError, type HclObject, itemsOf, parseHcl, scalar } from './lib/hcl.ts'
import { nearest } from './lib/nearest.ts'
import type { StaticSealConfig } from './static-seal.ts'
import { DEFAULT_RETENTION, type Retention } from './storage/retention.ts'
import type { ServerFacts } from './system/system.ts'

/** What is wrong with the configuration, in one sentence. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

export type StorageConfig =
  | { readonly type: 'sqlite'; readonly directory: string; readonly retention?: Retention | undefined }
  | { readonly type: 'inmem' }

export type ServerConfig = {
  /** Threads that serve requests. */
  readonly threads: number
  readonly host: string
  readonly port: number
  readonly limits: ListenerLimits
  readonly storage: StorageConfig
  readonly apiAddress: string
  readonly clusterName: string
  readonly reportedVersion: string
  readonly defaultTtlSeconds: number
  readonly maxTtlSeconds: number
  /** Undefined: shares open the server. */
  readonly seal: StaticSealConfig | undefined
  /** Endpoints that shares alone open, and that are to ask for a token as well. */
  readonly tokenAskedFor: { readonly generateRoot: boolean; readonly rekey: boolean }
  /** Whether a 403 tells the holder of a valid token what its policies lack. */
  readonly permissionHints: boolean
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
}

/** Whether only this machine reaches it: RFC 1122 section 3.2.1.3 gives all of 127.0.0.0/8 to the host itself. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
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

function requireKnown(body: HclObject, known: readonly string[], where: string): void {
  for (const { key, line } of body.items) {
    if (known.includes(key)) continue
    const near = nearest(key, known)
    const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean "${near}"?`
    throw new ConfigError(`line ${line}: unknown key "${key}" in ${where}, ${hint}`)
  }
}

/** The block with this key, of which there may be one. */
function only(body: HclObject, key: string): HclBlock | undefined {
  const blocks = blocksOf(body, key, 1)
  if (blocks.length > 1) throw new ConfigError(`line ${blocks[1]?.line}: a second ${key}, this version knows one`)
  return blocks[0]
}

const LISTENER_KEYS = [
  'address',
  'tls_disable',
  'max_request_size',
  'http_read_header_timeout',
  'http_read_timeout',
  'http_idle_timeout',
  'disable_unauthed_rekey_endpoints',
  'disable_unauthed_generate_root_endpoints',
]

export const MAX_THREADS = 256

function threadsOf(body: HclObject): Partial<ServerConfig> {
  const threads = single(body, 'threads')
  if (threads === undefined) return {}
  if (typeof threads !== 'number' || !Number.isInteger(threads) || threads < 1 || threads > MAX_THREADS) {
    throw new ConfigError(`threads must be a number from 1 to ${MAX_THREADS}`)
  }
  return { threads }
}

function listenerOf(body: HclObject): Partial<ServerConfig> {
  const block = only(body, 'listener')
  if (block === undefined) return {}
  if (block.labels[0] !== 'tcp')
    throw new ConfigError(`line ${block.line}: the listener "${block.labels[0]}" is not offered, use listener "tcp"`)
  requireKnown(block.body, LISTENER_KEYS, 'listener "tcp"')
  const address = single(block.body, 'address')
  const { host, port } = parseAddress(address === undefined ? '127.0.0.1:8200' : String(address))
  const plainAllowed = switchOf(block.body, 'tls_disable')
  if (!isLoopback(host) && !plainAllowed) {
    throw new ConfigError(
      `line ${block.line}: TLS is not offered yet, so an address other than loopback needs tls_disable = true`,
    )
  }
  const tokenAskedFor = {
    generateRoot: switchOf(block.body, 'disable_unauthed_generate_root_endpoints'),
    rekey: switchOf(block.body, 'disable_unauthed_rekey_endpoints'),
  }
  const isAsked = tokenAskedFor.generateRoot || tokenAskedFor.rekey
  return { host, port, limits: limitsOf(block.body), ...(isAsked ? { tokenAskedFor } : {}) }
}

/** A day; the timers of the runtime end at 24.8 days. */
const MAX_TIMEOUT_SECONDS = 86_400

function limitsOf(body: HclObject): ListenerLimits {
  const size = single(body, 'max_request_size')
  if (size !== undefined && (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)) {
    throw new ConfigError('"max_request_size" must be a number of bytes')
  }
  const ms = (key: string, fallback: number): number => {
    const seconds = secondsIn(body, key)
    if (seconds !== undefined && seconds > MAX_TIMEOUT_SECONDS) {
      throw new ConfigError(`${key} must be at most ${MAX_TIMEOUT_SECONDS} seconds`)
    }
    return seconds === undefined || seconds === 0 ? fallback : seconds * 1000
  }
  const limits = {
    maxRequestBytes: size === undefined || size === 0 ? DEFAULT_LIMITS.maxRequestBytes : size,
    readHeaderTimeoutMs: ms('http_read_header_timeout', DEFAULT_LIMITS.readHeaderTimeoutMs),
    readTimeoutMs: ms('http_read_timeout', DEFAULT_LIMITS.readTimeoutMs),
    idleTimeoutMs: ms('http_idle_timeout', DEFAULT_LIMITS.idleTimeoutMs),
  }
  // The headers are part of the request, and node:http refuses to start otherwise.
  if (limits.readHeaderTimeoutMs > limits.readTimeoutMs) {
    throw new ConfigError('"http_read_header_timeout" must not be longer than "http_read_timeout"')
  }
  return limits
}

/** Off where it is missing. */
function switchOf(body: HclObject, key: string): boolean {
  const value = single(body, key)
  if (value === undefined || value === false || value === 'false' || value === 0 || value === '0') return false
  if (value === true || value === 'true' || value === 1 || value === '1') return true
  throw new ConfigError(`"${key}" must be true or false`)
}

const STORAGE_TYPES = ['sqlite', 'inmem']

function storageOf(body: HclObject): Partial<ServerConfig> {
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

const STATIC_KEYS = ['current_key_id', 'current_key', 'previous_key_id', 'previous_key']

function sealOf(body: HclObject): Partial<ServerConfig> {
  const block = only(body, 'seal')
  if (block === undefined || block.labels[0] === 'shamir') return {}
  if (block.labels[0] !== 'static') {
    throw new ConfigError(`line ${block.line}: the seal "${block.labels[0]}" is not offered, use static or shamir`)
  }
  requireKnown(block.body, STATIC_KEYS, 'seal "static"')
  const [keyId, key, previousId, previousKey] = STATIC_KEYS.map((name) => textIn(block.body, name))
  if (keyId === undefined || key === undefined)
    throw new ConfigError(`line ${block.line}: seal "static" needs current_key_id and current_key`)
  if ((previousId === undefined) !== (previousKey === undefined))
    throw new ConfigError(`line ${block.line}: seal "static" needs previous_key_id and previous_key together`)
  if (previousId === keyId)
    throw new ConfigError(`line ${block.line}: seal "static" has two keys with the id "${keyId}"`)
  const previous =
    previousId === undefined || previousKey === undefined ? undefined : { keyId: previousId, key: previousKey }
  return { seal: { keyId, key, previous } }
}

/** Undefined where it is missing or empty; its value is in no message. */
function textIn(body: HclObject, key: string): string | undefined {
  const value = single(body, key)
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw new ConfigError(`"${key}" must be text`)
  return value
}

function single(body: HclObject, key: string): string | number | bigint | boolean | null | undefined {
  const items = body.items.filter((item) => item.key === key)
  const [first, second] = items
  if (second !== undefined) throw new ConfigError(`line ${second.line}: "${key}" stands twice`)
  if (first === undefined) return undefined
  const value = scalar(first.value)
  if (value === undefined) throw new ConfigError(`line ${first.line}: "${key}" must be a single value`)
  return value
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

function secondsIn(body: HclObject, key: string): number | undefined {
  const value = single(body, key)
  if (value === undefined) return undefined
  try {
    const seconds = parseDurationSeconds(typeof value === 'number' ? value : String(value))
    if (seconds >= 0) return seconds
  } catch (cause) {
    if (!(cause instanceof DurationError)) throw cause
  }
  throw new ConfigError(`"${key}" must be seconds or a duration such as 90m`)
}

const MAX_PORT = 65_535

/** `host:port`; IPv6 in brackets. @throws ConfigError */
export function parseAddress(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(':')
  const host = hostOf(text.slice(0, Math.max(colon, 0)))
  const digits = text.slice(colon + 1)
  const port = Number(digits)
  if (host === undefined || digits === '' || digits.length > 5 || ![...digits].every(isDigit) || port > MAX_PORT) {
    throw new ConfigError(`The address "${text}" is not of the form 127.0.0.1:8200`)
  }
  return { host, port }
}

/** Undefined where it is neither an address nor can be a name. */
function hostOf(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : undefined
  if (bare !== undefined) return isIPv6(bare) ? bare : undefined
  return text !== '' && [...text].every((c) => isDigit(c) || isNameCharacter(c)) ? text : undefined
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9'
}

function isNameCharacter(character: string): boolean {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || '.-_'.includes(character)
}
