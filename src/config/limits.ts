// Limits of a listener, and limits that all listeners share. They bound the memory and time that callers can take
// (threats P-40). src/http enforces them (docs/decisions/0016-http-boundary.md).

import { DEFAULT_LIMITS, DEFAULT_SERVER_LIMITS, type ListenerLimits, type ServerLimits } from '../http/limits.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { refused, setting } from './setting.ts'
import { ConfigError, integerIn, secondsIn } from './values.ts'

/** The reference has six limits of JSON documents. Here depth and size bound all of them. */
const JSON_LIMIT = refused('leave it out; JSON nesting is limited to 64 levels, everything else by max_request_size')

/** Limits that each listener has for itself: keys of the stanza `listener`. */
export const LIMIT_SETTINGS = {
  max_request_size: setting(
    'bytes',
    '33554432',
    'Maximum size of a request body; beyond it 413. 0: the default; negative: as much as `max_body_memory` allows',
  ),
  max_request_duration: setting('duration', '90s', 'Maximum time from a request to its answer; beyond it 503'),
  http_read_header_timeout: setting('duration', '10s', 'Maximum time to receive the request headers'),
  http_read_timeout: setting('duration', '30s', 'Maximum time to receive the request body'),
  http_idle_timeout: setting('duration', '5m', 'Maximum idle time between two requests on a connection'),
  http_write_timeout: setting('duration', 'none', 'Maximum time for the client to receive the answer'),
  max_token_header_size: setting('bytes', '8192', 'Maximum length of a token; beyond it 431'),
  max_json_depth: JSON_LIMIT,
  max_json_string_value_length: JSON_LIMIT,
  max_json_object_entry_count: JSON_LIMIT,
  max_json_array_element_count: JSON_LIMIT,
  max_request_json_memory: JSON_LIMIT,
  max_request_json_strings: JSON_LIMIT,
} as const

/** Limits that all listeners share: keys outside the stanzas. */
export const SHARED_LIMIT_SETTINGS = {
  max_connections: setting(
    'number',
    String(DEFAULT_SERVER_LIMITS.maxConnections),
    'Maximum number of connections over all listeners',
  ),
  max_connections_per_address: setting(
    'number',
    String(DEFAULT_SERVER_LIMITS.maxConnectionsPerAddress),
    'Maximum number of connections from one address (IPv6: one /64), except the trusted proxies of a listener',
  ),
  max_body_memory: setting(
    'bytes',
    '268435456, or the largest max_request_size if that is more',
    'Maximum memory for the bodies of concurrent requests, beyond the first 64 KiB of each; beyond it 503. Callers ' +
      'without a valid token share a quarter of it, with at most 256 KiB each',
  ),
  max_body_memory_per_address: setting(
    'bytes',
    'half of max_body_memory, or the largest max_request_size if that is more',
    'Maximum share of `max_body_memory` for one client address (IPv6: one /64), as a trusted proxy reports it; ' +
      'beyond it 503',
  ),
  default_max_request_duration: setting('duration', '90s', '`max_request_duration` of listeners that do not set it'),
} as const

/** A day; the timers of the runtime end at 24.8 days. */
const MAX_TIMEOUT_SECONDS = 86_400
/** 1 GiB, far below what a single buffer can hold. */
const MOST_BODY_BYTES = 1 << 30

/** Reads a duration in milliseconds; 0 and a missing key give `missingMs`. */
function timeIn(body: HclObject, key: string, missingMs: number): number {
  const seconds = secondsIn(body, key)
  if (seconds !== undefined && seconds > MAX_TIMEOUT_SECONDS)
    throw new ConfigError(`${key} must be at most ${MAX_TIMEOUT_SECONDS} seconds`)
  return seconds === undefined || seconds === 0 ? missingMs : seconds * 1000
}

/** Limits of one listener as given. `maxRequestMs` is undefined if it takes the one that listeners share. */
export type GivenLimits = Omit<ListenerLimits, 'maxRequestMs'> & { readonly maxRequestMs: number | undefined }

/** Reads the limits of a listener. A negative size is infinite here: `settledLimits` bounds it. @throws ConfigError */
export function givenLimits(body: HclObject): GivenLimits {
  const size = integerIn(body, 'max_request_size', 'a number of bytes') ?? 0
  if (size > MOST_BODY_BYTES) throw new ConfigError(`"max_request_size" must be at most ${MOST_BODY_BYTES} bytes`)
  const tokenBytes = integerIn(body, 'max_token_header_size', 'a number of bytes') ?? 0
  if (tokenBytes < 0) throw new ConfigError('"max_token_header_size" must not be negative')
  const limits = {
    maxRequestBytes: size === 0 ? DEFAULT_LIMITS.maxRequestBytes : size < 0 ? Number.POSITIVE_INFINITY : size,
    maxRequestMs: timeIn(body, 'max_request_duration', 0) || undefined,
    readHeaderTimeoutMs: timeIn(body, 'http_read_header_timeout', DEFAULT_LIMITS.readHeaderTimeoutMs),
    readTimeoutMs: timeIn(body, 'http_read_timeout', DEFAULT_LIMITS.readTimeoutMs),
    idleTimeoutMs: timeIn(body, 'http_idle_timeout', DEFAULT_LIMITS.idleTimeoutMs),
    writeTimeoutMs: timeIn(body, 'http_write_timeout', 0),
    maxTokenBytes: tokenBytes === 0 ? DEFAULT_LIMITS.maxTokenBytes : tokenBytes,
  }
  // The time for the whole request includes that for the headers, as with the reference.
  if (limits.readHeaderTimeoutMs > limits.readTimeoutMs)
    throw new ConfigError('"http_read_header_timeout" must not be longer than "http_read_timeout"')
  return limits
}

/** Shared limits, as far as they are given. */
export type SharedLimits = Partial<ServerLimits> & { readonly maxRequestMs?: number }

/** Reads the shared limits. @throws ConfigError */
export function sharedLimitsOf(body: HclObject): SharedLimits {
  const positive = (key: string): number | undefined => {
    const value = integerIn(body, key)
    if (value !== undefined && value <= 0) throw new ConfigError(`"${key}" must be greater than 0`)
    return value
  }
  const maxConnections = positive('max_connections')
  const maxConnectionsPerAddress = positive('max_connections_per_address')
  const maxBodyBytes = positive('max_body_memory')
  const maxBodyBytesPerAddress = positive('max_body_memory_per_address')
  const maxRequestMs = timeIn(body, 'default_max_request_duration', 0)
  return {
    ...(maxConnections === undefined ? {} : { maxConnections }),
    ...(maxConnectionsPerAddress === undefined ? {} : { maxConnectionsPerAddress }),
    ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
    ...(maxBodyBytesPerAddress === undefined ? {} : { maxBodyBytesPerAddress }),
    ...(maxRequestMs === 0 ? {} : { maxRequestMs }),
  }
}

/** The limits in force. */
export type SettledLimits = { readonly shared: ServerLimits; readonly listeners: readonly ListenerLimits[] }

/**
 * Fits limits to each other: the memory for bodies holds the largest body of every listener, and no listener accepts
 * a body that could never get that memory. @throws ConfigError if given limits contradict each other
 */
export function settledLimits(given: SharedLimits, listeners: readonly GivenLimits[]): SettledLimits {
  const { maxRequestMs = DEFAULT_LIMITS.maxRequestMs, ...shared } = given
  const largest = Math.max(0, ...listeners.map(({ maxRequestBytes }) => maxRequestBytes).filter(Number.isFinite))
  if (given.maxBodyBytes !== undefined && given.maxBodyBytes < largest)
    throw new ConfigError(`"max_body_memory" must not be less than the largest max_request_size, ${largest} bytes`)
  const maxBodyBytes = given.maxBodyBytes ?? Math.max(DEFAULT_SERVER_LIMITS.maxBodyBytes, largest)
  if (given.maxBodyBytesPerAddress !== undefined && given.maxBodyBytesPerAddress < largest)
    throw new ConfigError(
      `"max_body_memory_per_address" must not be less than the largest max_request_size, ${largest} bytes`,
    )
  const isUnbounded = listeners.some(({ maxRequestBytes }) => !Number.isFinite(maxRequestBytes))
  // An unbounded listener may fill all of it: any smaller share would be its bound.
  const half = isUnbounded ? maxBodyBytes : Math.max(Math.floor(maxBodyBytes / 2), largest)
  const maxBodyBytesPerAddress = Math.min(given.maxBodyBytesPerAddress ?? half, maxBodyBytes)
  return {
    shared: { ...DEFAULT_SERVER_LIMITS, ...shared, maxBodyBytes, maxBodyBytesPerAddress },
    listeners: listeners.map((limits) => ({
      ...limits,
      maxRequestMs: limits.maxRequestMs ?? maxRequestMs,
      maxRequestBytes: Math.min(limits.maxRequestBytes, maxBodyBytesPerAddress, MOST_BODY_BYTES),
    })),
  }
}
