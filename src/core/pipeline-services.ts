import type { CorsSettings } from '../api/cors.ts'
import type { Audit } from '../audit/audit.ts'
import type { LoginService } from '../auth/login-service.ts'
import type { PolicyStore } from '../auth/policy-store.ts'
import type { Identities } from '../auth/subject.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { Wrapping } from '../auth/wrapping.ts'
import type { QuotaStore } from '../quotas/quota-store.ts'
import type { RateLimiter } from '../quotas/rate-limiter.ts'
import type { WireRequest, WireResponse } from './exchange.ts'
import type { MountTable } from './mount-table.ts'

/** Settings that the endpoints under sys/config write; each waits only where it is not in memory. */
export type BrowserSettings = {
  readonly cors: () => CorsSettings | Promise<CorsSettings>
  /** By name, for answers outside /v1/. */
  readonly uiHeaders: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
}

/** What the steps work with; the same in every thread, but for `forward`. */
export type PipelineServices = {
  readonly mounts: MountTable
  readonly tokens: TokenStore
  readonly policies: PolicyStore
  readonly identities: Identities
  readonly logins: LoginService
  readonly wrapping: Wrapping
  readonly browsers: BrowserSettings
  readonly quotas: QuotaStore
  readonly limiter: RateLimiter
  /** Counts a request that a quota refused. */
  readonly noteRateLimited: () => void
  /** Counts a request that no audit device recorded, or its answer. */
  readonly noteUnrecorded: (what: 'request' | 'response') => void
  readonly audit: Audit
  readonly sealed: () => boolean
  readonly initialized: () => boolean
  /** Whether the holder of a valid token learns what its policies lack for a request. */
  readonly permissionHints: boolean
  /** Of a body that is the caller's own data (`takesAnyFields`): it is kept, and more than that is not. */
  readonly mostFreeBytes: number
  /** Where this thread does not write: hands the request to the one that does. */
  readonly forward: ((request: WireRequest) => Promise<WireResponse>) | undefined
}
