// Who may do what: tokens, policies, identities, and what belongs to tokens, over one storage.
import { Cubbyhole, wipeCubbyhole } from '../auth/cubbyhole.ts'
import type { KeptLimits, KeptValues } from '../auth/kept-values.ts'
import { Leases } from '../auth/leases.ts'
import { LoginService } from '../auth/login-service.ts'
import { PluginIdentity } from '../auth/plugin-identity.ts'
import { PolicyStore } from '../auth/policy-store.ts'
import { PolicySweep } from '../auth/policy-sweep.ts'
import { TokenExpiry } from '../auth/token-expiry.ts'
import { TokenRoles } from '../auth/token-role.ts'
import type { TokenLimits } from '../auth/token-rules.ts'
import { TokenService } from '../auth/token-service.ts'
import { TokenStore } from '../auth/token-store.ts'
import { TokenTidy } from '../auth/token-tidy.ts'
import { Wrapping } from '../auth/wrapping.ts'
import { WrappingJwt } from '../auth/wrapping-jwt.ts'
import type { MountTable } from '../core/mount-table.ts'
import { sha256 } from '../crypto/primitives/digest.ts'
import { IdentityStore } from '../identity/identity-store.ts'
import type { Log } from '../lib/log.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'

export type AccountParts = {
  readonly storage: SealedStorage
  readonly invalidation: Invalidation
  readonly world: World
  readonly log: Log
  readonly limits: TokenLimits & { readonly kept?: KeptLimits }
  /** Given where this thread writes nothing. */
  readonly keptElsewhere: KeptValues | undefined
  readonly slow: SlowWork
  /** '' where the configuration names none. */
  readonly apiAddress: string
  /** Asked when all of it stands. */
  readonly mounts: () => MountTable
}

export type Accounts = {
  readonly tokens: TokenStore
  readonly tokenService: TokenService
  readonly policies: PolicyStore
  readonly identities: IdentityStore
  readonly logins: LoginService
  readonly leases: Leases
  /** Started only where tokens may be written. */
  readonly expiry: TokenExpiry
  /** The same of policies. */
  readonly policySweep: PolicySweep
  readonly cubbyhole: Cubbyhole
  readonly wrapping: Wrapping
  readonly wrappingJwt: WrappingJwt
  readonly pluginIdentity: PluginIdentity
}

export function buildAccounts(parts: AccountParts): Accounts {
  const { storage, invalidation, world, log, limits, slow, apiAddress, mounts } = parts
  const policies = new PolicyStore(storage, world.clock, invalidation, log)
  const tokens = new TokenStore(storage, world, invalidation)
  const pluginIdentity = new PluginIdentity({ storage, slow, world, apiAddress })
  const identities = new IdentityStore(storage, invalidation, {
    world,
    digest: (text) => sha256(Buffer.from(text)).toString('hex'),
    mountOf: (accessor) =>
      mounts()
        .list()
        .find((entry) => entry.accessor === accessor),
    published: pluginIdentity,
  })
  const expiry = new TokenExpiry(tokens, world, log)
  const policySweep = new PolicySweep(policies, world, log)
  const tidy = new TokenTidy(tokens, world, log)
  const roles = new TokenRoles(storage)
  const tokenService = new TokenService({ tokens, roles, tidy, policies, identities, world, limits })
  const { renewal } = tokenService
  const leases = new Leases({ tokens, renewal, expiry, tidy, nowMs: () => world.clock.nowMs(), timers: world.timers })
  const isMounted = (uuid: string): boolean => mounts().loginMethod(uuid) !== undefined
  const logins = new LoginService({ tokens, identities, world, limits, isMounted })
  const cubbyhole = new Cubbyhole(tokens.view, limits.kept, parts.keptElsewhere)
  tokens.addBelongings(wipeCubbyhole)
  const wrappingJwt = new WrappingJwt({ storage, invalidation, slow, world, apiAddress })
  const wrapping = new Wrapping({
    tokens,
    world,
    jwt: wrappingJwt,
    longestTtlSeconds: limits.maxTtlSeconds,
    ...(limits.kept === undefined ? {} : { limits: limits.kept }),
    elsewhere: parts.keptElsewhere,
  })
  return {
    tokens,
    tokenService,
    policies,
    identities,
    logins,
    leases,
    expiry,
    policySweep,
    cubbyhole,
    wrapping,
    wrappingJwt,
    pluginIdentity,
  }
}

/** The mount table routes to some of these, and they ask it about login methods: they are tied when both exist. */
export function tieAccounts({ tokens, tokenService, leases, identities }: Accounts, mounts: MountTable): void {
  tokenService.tie(mounts)
  tokens.tie((uuid) => mounts.loginMethod(uuid) !== undefined)
  // Who was let in by a login method does not outlast it, nor does a wrapped answer the mount that gave it.
  mounts.onUnmount(async (entry) => {
    await leases.revokeByMount(entry)
    if (entry.kind === 'auth') await identities.removeMount(entry)
  })
}
