// Who may do what, as the other rooms are handed it: tokens, policies, identities, and what belongs to tokens.
import type { Cubbyhole } from '../auth/cubbyhole.ts'
import type { Leases } from '../auth/leases.ts'
import type { LoginService } from '../auth/login-service.ts'
import type { PluginIdentity } from '../auth/plugin-identity.ts'
import type { PolicyStore } from '../auth/policy-store.ts'
import type { PolicySweep } from '../auth/policy-sweep.ts'
import type { TokenExpiry } from '../auth/token-expiry.ts'
import type { TokenService } from '../auth/token-service.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { Wrapping } from '../auth/wrapping.ts'
import type { WrappingJwt } from '../auth/wrapping-jwt.ts'
import type { IdentityStore } from '../identity/identity-store.ts'

export type AuthServices = TokenServices &
  CallersValues & {
    readonly policies: PolicyStore
    readonly identities: IdentityStore
    readonly logins: LoginService
    /** Begun only where tokens may be written. */
    readonly expiry: TokenExpiry
    /** The same of policies. */
    readonly policySweep: PolicySweep
    readonly pluginIdentity: PluginIdentity
  }

export type TokenServices = {
  readonly tokens: TokenStore
  readonly tokenService: TokenService
  readonly leases: Leases
}

/** What callers have kept for them. */
export type CallersValues = {
  readonly cubbyhole: Cubbyhole
  readonly wrapping: Wrapping
  readonly wrappingJwt: WrappingJwt
}
