// The stanza `listener "tcp"`: where the server listens, what it takes, and of whom it asks a token.
import { isIPv4, isIPv6 } from 'node:net'
import { ConfigError, only, requireKnown, secondsIn, single, switchOf } from './config-values.ts'
import { DEFAULT_LIMITS, type ListenerLimits } from './http/listener.ts'
import { isDigit } from './lib/ascii.ts'
import type { HclObject } from './lib/hcl.ts'

export type ListenerConfig = {
  readonly host: string
  readonly port: number
  readonly limits: ListenerLimits
  /** Endpoints that shares alone open, and that are to ask for a token as well. */
  readonly tokenAskedFor: { readonly generateRoot: boolean; readonly rekey: boolean }
  /** Whether sys/metrics answers without a token, and while sealed. */
  readonly openMetrics: boolean
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
  'telemetry',
]

export function listenerOf(body: HclObject): Partial<ListenerConfig> {
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
  const openMetrics = openMetricsOf(block.body) ? { openMetrics: true } : {}
  return { host, port, limits: limitsOf(block.body), ...(isAsked ? { tokenAskedFor } : {}), ...openMetrics }
}

function openMetricsOf(body: HclObject): boolean {
  const block = only(body, 'telemetry', 0)
  if (block === undefined) return false
  requireKnown(block.body, ['unauthenticated_metrics_access'], 'telemetry of listener "tcp"')
  return switchOf(block.body, 'unauthenticated_metrics_access')
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

/** Whether only this machine reaches it: RFC 1122 section 3.2.1.3 gives all of 127.0.0.0/8 to the host itself. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
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

function isNameCharacter(character: string): boolean {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || '.-_'.includes(character)
}
