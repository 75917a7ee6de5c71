// What a listener takes: sizes in bytes, times in milliseconds.

export type ListenerLimits = {
  /** Of a body; Infinity: as much as all bodies together may take. */
  readonly maxRequestBytes: number
  /** From the last byte of the request to the answer; 0: no limit. */
  readonly maxRequestMs: number
  readonly readHeaderTimeoutMs: number
  /** From the end of the headers to the end of the body. */
  readonly readTimeoutMs: number
  readonly idleTimeoutMs: number
  /** Until an answer is taken by the client; 0: no limit. */
  readonly writeTimeoutMs: number
  /** Of the text of a token. */
  readonly maxTokenBytes: number
}

export const DEFAULT_LIMITS: ListenerLimits = {
  maxRequestBytes: 33_554_432,
  maxRequestMs: 90_000,
  readHeaderTimeoutMs: 10_000,
  readTimeoutMs: 30_000,
  idleTimeoutMs: 300_000,
  writeTimeoutMs: 0,
  maxTokenBytes: 8_192,
}

/** Of all listeners and threads together. */
export type ServerLimits = {
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** That the bodies of requests take at once, beyond the first 64 KiB of each. */
  readonly maxBodyBytes: number
  /** Of those of one address. */
  readonly maxBodyBytesPerAddress: number
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  maxConnections: 10_000,
  maxConnectionsPerAddress: 5_000,
  maxBodyBytes: 268_435_456,
  maxBodyBytesPerAddress: 134_217_728,
}

/** The part of the memory of bodies that all callers without a live token have together. */
export const OPEN_SHARE = 1 / 4
