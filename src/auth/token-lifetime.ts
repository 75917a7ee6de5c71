// How long a token lives: a pure calculation, made at issue and again at each renewal (threats T-06).
import { formatDuration } from '../lib/duration.ts'

/** Default and maximum TTL if neither configuration nor mount sets one: 768 hours. */
export const SYSTEM_TTL_SECONDS = 768 * 3600

/** The terms that a lifetime follows from. The default and the maximum are those of system, mount and role together. */
export type LifetimeRequest = {
  /** The TTL that was asked for; 0: none. */
  readonly ttlSeconds: number
  readonly periodSeconds: number
  readonly explicitMaxTtlSeconds: number
  readonly defaultTtlSeconds: number
  readonly maxTtlSeconds: number
  readonly issuedAtMs: number
  readonly nowMs: number
}

/**
 * A positive TTL with warnings about capping. Undefined if no time is left: a computed 0 would mean "never ends"
 * (threats T-01).
 */
export type Lifetime = { readonly ttlSeconds: number; readonly warnings: readonly string[] } | undefined

/** Returns the TTL from `nowMs` on. At issue both times are the same; at renewal the age counts against the maximum. */
export function lifetime(request: LifetimeRequest): Lifetime {
  const { periodSeconds, explicitMaxTtlSeconds, issuedAtMs, nowMs } = request
  const maxSeconds =
    explicitMaxTtlSeconds > 0 ? Math.min(request.maxTtlSeconds, explicitMaxTtlSeconds) : request.maxTtlSeconds
  const ageSeconds = Math.floor((nowMs - issuedAtMs) / 1000)
  const periodic = periodSeconds > 0
  const wanted = periodic ? periodSeconds : request.ttlSeconds > 0 ? request.ttlSeconds : request.defaultTtlSeconds
  // A periodic token has no end but an explicit one, so only its period is held to the maximum.
  const left = periodic
    ? Math.min(maxSeconds, explicitMaxTtlSeconds > 0 ? explicitMaxTtlSeconds - ageSeconds : maxSeconds)
    : maxSeconds - ageSeconds
  if (left <= 0) return undefined
  if (wanted <= left) return { ttlSeconds: wanted, warnings: [] }
  const what = periodic ? 'period' : 'TTL'
  const [asked, given] = [formatDuration(wanted), formatDuration(left)]
  const beyond = `${what} of "${asked}" exceeded the effective max_ttl of "${given}"`
  const capped = `${beyond}; ${what} value is capped accordingly`
  return { ttlSeconds: left, warnings: [capped] }
}
