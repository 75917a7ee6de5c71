/** Which secondaries for disaster recovery writes wait for, from the configuration. */
export type SynchronousSettings = {
  /** The ids of their activation tokens. */
  readonly ids: readonly string[]
  /** How long one of them may be away until writes go on without it; undefined: they never do. */
  readonly timeoutMs: number | undefined
}

/** Without other settings one that is away is waited for so long. */
export const DEFAULT_TIMEOUT_MS = 10_000
/**
 * No answer is held back for longer: the longest timeout, and that of never. Clients give up after a minute, and what
 * is the only copy of something, such as new unseal shares, must be there before that. At a region it counts from when
 * the request came, if the primary did something for it: that one may have waited as well.
 */
export const LONGEST_WAIT_MS = 50_000
/** Where the primary took all that time, a secondary of the region that is here still gets so long. */
export const SHORTEST_WAIT_MS = 2_000
/** Each of them makes every write as slow as the slowest. */
export const MAX_SYNCHRONOUS = 8

/** Of a server that waits for none. */
export const NOT_SYNCHRONOUS: SynchronousSettings = { ids: [], timeoutMs: DEFAULT_TIMEOUT_MS }
