// Access control over one storage: tokens, policies, identities, and what belongs to tokens.
import type { Namespaces } from '../api/namespace.ts'
import type { NodeRole } from '../api/node-role.ts'
import { Cubbyhole, wipeCubbyhole } from '../auth/cubbyhole.ts'
import { Leases } from '../auth/leases.ts'
import { LoginService } from '../auth/login-service.ts'
import { PluginIdentity } from '../auth/plugin-identity.ts'
import { PolicyStore } from '../auth/policy-store.ts'
import { PolicySweep } from '../auth/policy-sweep.ts'
import { type GroupPolicyMode, RightsFinder } from '../auth/rights.ts'
import type { Identities } from '../auth/subject.ts'
import { TokenExpiry } from '../auth/token-expiry.ts'
import { TokenRoles } from '../auth/token-role.ts'
import { TokenService } from '../auth/token-service.ts'
import { TokenStore } from '../auth/token-store.ts'
import { TokenTidy } from '../auth/token-tidy.ts'
import { Wrapping } from '../auth/wrapping.ts'
import { WrappingJwt } from '../auth/wrapping-jwt.ts'
import type { Consistency } from '../core/consistency.ts'
import type { CallWriter } from '../core/engine-context.ts'
import type { MountTable } from '../core/mount-table.ts'
import type { RemovalWork } from '../core/stored-mounts.ts'
import { sha256 } from '../crypto/primitives/digest.ts'
import { AliasSweep } from '../identity/alias-sweep.ts'
import { IdentityStore } from '../identity/identity-store.ts'
import { type Log, namedLog } from '../lib/log.ts'
import { unlessGoing } from '../namespaces/namespace-store.ts'
import type { AuthServices, CallersValues, TokenServices } from './auth-services.ts'
import type { StorageRoom } from './build-storage.ts'
import { keptElsewhere } from './kept-elsewhere.ts'
import type { CommonParts } from './node-parts.ts'
import { sharedEntities } from './shared-identities.ts'

/** Parts of other rooms that access control needs. */
export type AuthRooms = {
  readonly storage: StorageRoom
  readonly namespaces: Namespaces
  /** Which groups of other namespaces count. Asked when requests come: the setting is made after this. */
  readonly groupPolicyMode: () => GroupPolicyMode | Promise<GroupPolicyMode>
  /** The mount table. A function, since its engines are made of what is built here. */
  readonly mounts: () => MountTable
  /** Asks the writing thread; undefined if this is it. */
  readonly callWriter: CallWriter | undefined
  readonly nodeRole: () => NodeRole
  /** Where the primary of this node answers; '': it has none, or that is not known. */
  readonly primaryAddress: () => string
  readonly consistency: Consistency
}

/** Builds all of access control. It reads nothing before the barrier is open. */
export function buildAuth(parts: CommonParts, rooms: AuthRooms): AuthServices {
  const { world, slow, facts, tokenLimits: limits, toPrimary = () => undefined } = parts
  const { mounts, nodeRole, primaryAddress, consistency } = rooms
  const { storage, invalidation } = rooms.storage
  const log = namedLog(parts.log, 'auth')
  const isMounted = (uuid: string, namespaceId: string): boolean =>
    mounts().withUuid(uuid)?.entry.namespace === namespaceId
  const policies = new PolicyStore({ storage, namespaces: rooms.namespaces, clock: world.clock, invalidation, log })
  const tokens = new TokenStore({ storage, world, invalidation, namespaces: rooms.namespaces, isMounted })
  const pluginIdentity = new PluginIdentity({ storage, slow, world, nodeRole, apiAddress: facts.apiAddress })
  const identities = new IdentityStore(storage, invalidation, {
    world,
    digest: (text) => sha256(Buffer.from(text)).toString('hex'),
    mountOf: (accessor) => mounts().withAccessor(accessor),
    published: pluginIdentity,
    unlessGoing: (namespaceId) => unlessGoing(rooms.namespaces, namespaceId),
    orPrimary: sharedEntities({ toPrimary, primaryAddress, consistency }),
  })
  const rights = new RightsFinder({ identities, namespaces: rooms.namespaces, mode: rooms.groupPolicyMode })
  const expiry = new TokenExpiry(tokens, world, log)
  return {
    ...tokenServices(parts, { ...rooms, tokens, policies, identities, rights, expiry }, log),
    ...callersValues(parts, rooms, tokens),
    policies,
    identities,
    rights,
    logins: new LoginService({ tokens, identities, rights, world, limits, isMounted }),
    expiry,
    policySweep: new PolicySweep(policies, world, log),
    aliasSweep: new AliasSweep(
      identities.parts,
      { follows: () => nodeRole().performance === 'secondary', namespaces: rooms.namespaces },
      log,
    ),
    pluginIdentity,
  }
}

function tokenServices(
  { world, tokenLimits: limits }: CommonParts,
  rooms: AuthRooms &
    Pick<AuthServices, 'tokens' | 'policies' | 'rights' | 'expiry'> & { readonly identities: Identities },
  log: Log,
): TokenServices {
  const { tokens, policies, identities, rights, expiry, mounts } = rooms
  const tidy = new TokenTidy(tokens, world, log)
  const roles = new TokenRoles(rooms.storage.storage)
  const tokenService = new TokenService({ tokens, roles, tidy, policies, identities, rights, world, limits, mounts })
  const { renewal } = tokenService
  const leases = new Leases({ tokens, renewal, expiry, tidy, nowMs: () => world.clock.nowMs(), timers: world.timers })
  return { tokens, tokenService, leases }
}

function callersValues(
  parts: CommonParts,
  { storage: room, callWriter }: AuthRooms,
  tokens: TokenStore,
): CallersValues {
  const { world, slow, facts, tokenLimits: limits } = parts
  const elsewhere = callWriter && keptElsewhere(callWriter)
  tokens.addBelongings(wipeCubbyhole)
  const wrappingJwt = new WrappingJwt({ ...room, slow, world, apiAddress: facts.apiAddress })
  const wrapping = new Wrapping({
    tokens,
    world,
    jwt: wrappingJwt,
    longestTtlSeconds: limits.maxTtlSeconds,
    ...(limits.kept === undefined ? {} : { limits: limits.kept }),
    elsewhere,
  })
  return { cubbyhole: new Cubbyhole(tokens, limits.kept, elsewhere), wrapping, wrappingJwt }
}

/**
 * When a mount is removed, its leases and wrapped answers are revoked. For a login method the tokens that it gave and
 * the aliases of its users go as well.
 */
export function authRemoval({ leases, identities }: Pick<AuthServices, 'leases' | 'identities'>): RemovalWork {
  return async (entry) => {
    await leases.revokeByMount(entry)
    if (entry.kind === 'auth') await identities.removeMount(entry)
  }
}
