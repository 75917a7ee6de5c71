// How long a token lives: a pure calculation, made when it is issued and again at each renewal.
import { formatDuration } from '../lib/duration.ts'

/** Where neither token nor mount says otherwise: 768 hours, for both. */
export const SYSTEM_TTL_SECONDS = 768 * 3600

export type LifetimeRequest = {
  /** What was asked for; 0: nothing. */
  readonly ttlSeconds: number
  readonly periodSeconds: number
  readonly explicitMaxTtlSeconds: number
  readonly defaultTtlSeconds: number
  readonly maxTtlSeconds: number
  readonly issuedAtMs: number
  readonly nowMs: number
}

/** Never a 0 that could be taken for "no end" (threats T-01): a lifetime that is over is undefined. */
export type Lifetime = { readonly ttlSeconds: number; readonly warnings: readonly string[] } | undefined

export function lifetime(request: LifetimeRequest): Lifetime {
  const { periodSeconds, explicitMaxTtlSeconds, issuedAtMs, nowMs } = request
  const maxSeconds =
    explicitMaxTtlSeconds > 0 ? Math.min(request.maxTtlSeconds, explicitMaxTtlSeconds) : request.maxTtlSeconds
  const ageSeconds = Math.floor((nowMs - issuedAtMs) / 1000)
  const periodic = periodSeconds > 0
  const wanted = periodic ? periodSeconds : request.ttlSeconds > 0 ? request.ttlSeconds : request.defaultTtlSeconds
  // A periodic token has no end but an explicit one: its period alone is held to the maximum.
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
