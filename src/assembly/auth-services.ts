// Access control as other rooms are handed it: tokens, policies, identities, and what belongs to tokens.
import type { Cubbyhole } from '../auth/cubbyhole.ts'
import type { Leases } from '../auth/leases.ts'
import type { LoginService } from '../auth/login-service.ts'
import type { PluginIdentity } from '../auth/plugin-identity.ts'
import type { PolicyStore } from '../auth/policy-store.ts'
import type { PolicySweep } from '../auth/policy-sweep.ts'
import type { RightsFinder } from '../auth/rights.ts'
import type { TokenExpiry } from '../auth/token-expiry.ts'
import type { TokenService } from '../auth/token-service.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { Wrapping } from '../auth/wrapping.ts'
import type { WrappingJwt } from '../auth/wrapping-jwt.ts'
import type { AliasSweep } from '../identity/alias-sweep.ts'
import type { IdentityStore } from '../identity/identity-store.ts'

/** Everything that `buildAuth` makes, flat: most rooms take a few of these members and name them. */
export type AuthServices = TokenServices &
  CallersValues & {
    readonly policies: PolicyStore
    readonly identities: IdentityStore
    readonly rights: RightsFinder
    readonly logins: LoginService
    /** Ends tokens that are due. Started only where tokens may be written. */
    readonly expiry: TokenExpiry
    /** Removes policies that are due. Started only where policies may be written. */
    readonly policySweep: PolicySweep
    /** Removes aliases and memberships without an entity. Started only where a cluster may write its own data. */
    readonly aliasSweep: AliasSweep
    /** Signs the tokens by which mounts prove elsewhere who they are (identity federation). */
    readonly pluginIdentity: PluginIdentity
  }

/** Tokens, the rules by which they are made and renewed, and their leases. */
export type TokenServices = {
  readonly tokens: TokenStore
  readonly tokenService: TokenService
  readonly leases: Leases
}

/** Values that callers store under a token: their cubbyhole, and wrapped answers. */
export type CallersValues = {
  readonly cubbyhole: Cubbyhole
  readonly wrapping: Wrapping
  readonly wrappingJwt: WrappingJwt
}
