// Services that the steps of the pipeline work with.
import type { CorsSettings } from '../api/cors.ts'
import type { Namespaces } from '../api/namespace.ts'
import type { NodeRole } from '../api/node-role.ts'
import type { Audit } from '../audit/audit.ts'
import type { LoginService } from '../auth/login-service.ts'
import type { PolicyStore } from '../auth/policy-store.ts'
import type { RightsFinder } from '../auth/rights.ts'
import type { Identities } from '../auth/subject.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { Wrapping } from '../auth/wrapping.ts'
import type { QuotaStore } from '../quotas/quota-store.ts'
import type { RateLimiter } from '../quotas/rate-limiter.ts'
import type { SynchronousWrites } from '../replication/synchronous/synchronous-writes.ts'
import type { Position } from '../storage/peer-log.ts'
import type { Consistency } from './consistency.ts'
import type { WireRequest, WireResponse } from './exchange.ts'
import type { ToPrimary } from './handed.ts'
import type { MountTable } from './mount-table.ts'

/** Settings that endpoints under sys/config write. Each is a promise only if it is not in memory yet. */
export type BrowserSettings = {
  readonly cors: () => CorsSettings | Promise<CorsSettings>
  /** Headers by name, for answers outside /v1/. */
  readonly uiHeaders: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
}

/** The services that the assembly hands to the pipeline. They are the same in every thread, except for `forward`. */
export type PipelineServices = {
  readonly namespaces: Namespaces
  readonly mounts: MountTable
  readonly tokens: TokenStore
  readonly policies: PolicyStore
  readonly identities: Identities
  readonly rights: RightsFinder
  readonly logins: LoginService
  readonly wrapping: Wrapping
  readonly browsers: BrowserSettings
  readonly quotas: QuotaStore
  readonly limiter: RateLimiter
  /** Counts a request that a quota refused. */
  readonly noteRateLimited: () => void
  /** Counts a request, or an answer, that no audit device could record. */
  readonly noteUnrecorded: (what: 'request' | 'response') => void
  readonly audit: Audit
  readonly sealed: () => boolean
  readonly initialized: () => boolean
  /** The role of this node among others, at the time of the call. */
  readonly nodeRole: () => NodeRole
  /** The link to the primary, at the time of the call; undefined if there is none, and on threads that only serve. */
  readonly toPrimary: () => ToPrimary | undefined
  /** What clients see of the way from one cluster of a set to another. */
  readonly consistency: Consistency
  /** The writes that wait for secondaries; undefined on threads that only serve. */
  readonly synchronous: Pick<SynchronousWrites, 'ids' | 'mark' | 'confirmed'> | undefined
  /** Where the store stands, from memory; undefined on threads that only serve, and while no store is open. */
  readonly position: () => Position | undefined
  /** Where the primary of this node answers; '': there is none, or it is not known. */
  readonly primaryAddress: () => string
  /** True if the holder of a valid token is told what its policies lack for a request. */
  readonly permissionHints: boolean
  /**
   * The largest body that an endpoint with `takesAnyFields` takes. Such a body is the caller's own data, stored as it
   * is.
   */
  readonly mostFreeBytes: number
  /** Hands the request to the writing thread; undefined on that thread. */
  readonly forward: ((request: WireRequest) => Promise<WireResponse>) | undefined
}
