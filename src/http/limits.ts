// Limits of listeners and of the server; sizes in bytes, times in milliseconds.

/** Limits of one listener. docs/configuration.md has the settings. */
export type ListenerLimits = {
  /** Largest body; Infinity: as much as all bodies together may take. */
  readonly maxRequestBytes: number
  /** Time from the last byte of the request to the answer; 0: no limit. */
  readonly maxRequestMs: number
  /** Time for the headers to arrive. */
  readonly readHeaderTimeoutMs: number
  /** Time from the end of the headers to the end of the body; for streams, the longest pause. */
  readonly readTimeoutMs: number
  /** Time that a connection may stay open between two requests. */
  readonly idleTimeoutMs: number
  /** Time in which the client must take the answer; 0: no limit. */
  readonly writeTimeoutMs: number
  /** Longest token, in characters. */
  readonly maxTokenBytes: number
}

/** Limits of a listener whose configuration sets none; the largest body is that of Interface 8. */
export const DEFAULT_LIMITS: ListenerLimits = {
  maxRequestBytes: 33_554_432,
  maxRequestMs: 90_000,
  readHeaderTimeoutMs: 10_000,
  readTimeoutMs: 30_000,
  idleTimeoutMs: 300_000,
  writeTimeoutMs: 0,
  maxTokenBytes: 8_192,
}

/** Limits of all listeners and threads of the process together. */
export type ServerLimits = {
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** Memory for the bodies of all requests, beyond the first 64 KiB of each. */
  readonly maxBodyBytes: number
  /** The part of it that bodies from one address may take. */
  readonly maxBodyBytesPerAddress: number
}

/** Limits of a server whose configuration sets none. */
export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  maxConnections: 10_000,
  maxConnectionsPerAddress: 5_000,
  maxBodyBytes: 268_435_456,
  maxBodyBytesPerAddress: 134_217_728,
}

/** The part of that memory that all callers without a live token share. */
export const OPEN_SHARE = 1 / 4
