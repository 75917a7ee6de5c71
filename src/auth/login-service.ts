// Makes tokens for callers that a login method recognised. All methods go through here, so none can forget a rule
// (Interface 5, threats A-11).
import { fail } from '../api/errors.ts'
import type { Login, TokenSettings } from '../api/login.ts'
import type { LoginRule } from '../api/login-method.ts'
import type { MountEntry } from '../api/mount.ts'
import type { Answer } from '../api/request.ts'
import { isInCidrs } from '../lib/cidr.ts'
import type { World } from '../lib/world.ts'
import { WriteNotAllowed } from '../storage/errors.ts'
import type { RightsFinder } from './rights.ts'
import type { Identities } from './subject.ts'
import { authBlock, type TokenEntry } from './token-entry.ts'
import { type Lifetime, lifetime } from './token-lifetime.ts'
import { sanitizePolicies, type TokenLimits } from './token-rules.ts'
import type { TokenStore } from './token-store.ts'

/** The request that logged in, as far as the token depends on it. */
export type LoginRequest = { readonly path: string; readonly remoteAddress: string }

type Parts = {
  readonly tokens: TokenStore
  readonly identities: Identities
  readonly rights: RightsFinder
  readonly world: World
  readonly limits: TokenLimits
  readonly isMounted: (mountUuid: string, namespaceId: string) => boolean
}

/** Issues the tokens of all login methods. Methods only describe the token they want; they never make one. */
export class LoginService {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * What `issue` demands besides the address, in the order in which it refuses. Login methods use it to explain logins.
   */
  readonly rules: readonly LoginRule[] = [
    { name: 'policies of the token', run: ({ settings }) => loginPolicies(settings).join(', ') },
    {
      name: 'entity of the caller',
      run: async ({ alias }, mount) => {
        if (alias === undefined) return 'none belongs to it'
        const found = await this.#parts.identities.findEntityOfLogin(mount, alias)
        return found ?? 'the first login makes it'
      },
    },
    {
      name: 'lifetime of the token',
      run: ({ settings }, mount) => `${this.#lifeOf(settings, mount).ttlSeconds} s`,
    },
  ]

  /**
   * Makes and stores the token of a login, and returns the answer that carries it. The mount is checked again after the
   * token is stored: it may have been removed meanwhile.
   * @throws Refusal if the address is not allowed, the role grants `root`, the lifetime is not positive, or the mount
   * is gone.
   */
  async issue(login: Login, mount: MountEntry, request: LoginRequest): Promise<Answer> {
    const { tokens, identities, rights, world } = this.#parts
    const { settings } = login
    if (!isInCidrs(request.remoteAddress, settings.boundCidrs)) throw fail('permission_denied', [])
    const policies = loginPolicies(settings)
    const entityId = login.alias === undefined ? '' : await identities.entityOfLogin(mount, login.alias, login.groups)
    const nowMs = world.clock.nowMs()
    const type = tokenTypeOf(mount, settings)
    const life = this.#lifeOf(settings, mount, nowMs)
    const entry: TokenEntry = {
      format: 1,
      type,
      namespace: mount.namespace,
      accessor: type === 'batch' ? '' : tokens.newAccessor(mount.namespace),
      policies,
      path: request.path,
      displayName: this.#displayNameOf(mount, login.displayName),
      meta: login.metadata,
      parent: '',
      createdAtMs: nowMs,
      creationTtlSeconds: life.ttlSeconds,
      explicitMaxTtlSeconds: settings.explicitMaxTtlSeconds,
      periodSeconds: settings.periodSeconds,
      renewable: type === 'service',
      expiry: { atMs: nowMs + life.ttlSeconds * 1000 },
      lastRenewalAtMs: null,
      numUses: settings.numUses,
      entityId,
      boundCidrs: settings.boundCidrs,
      role: '',
      login: { mountUuid: mount.uuid, renewal: login.renewal },
    }
    // Before the token is there: it would stay if this failed.
    const identityPolicies = await rights.identityPoliciesOf(entry)
    const token = await tokens.issue(entry)
    if (!this.#parts.isMounted(mount.uuid, mount.namespace)) {
      await this.#takeBack(token, mount)
      throw fail('no_route', [request.path])
    }
    return { isNewToken: true, auth: authBlock(token, entry, nowMs, identityPolicies), warnings: life.warnings }
  }

  /** Returns `userpass-bob` for the user `bob` of auth/userpass/, `team-auth-userpass-bob` in the namespace team/. */
  #displayNameOf(mount: MountEntry, name: string): string {
    const namespacePath = this.#parts.tokens.namespaceOf(mount)?.path ?? ''
    const path = namespacePath === '' ? mount.path.slice('auth/'.length) : namespacePath + mount.path
    const inside = path.slice(0, -1).replaceAll('/', '-')
    return name === '' ? inside : `${inside}-${name}`
  }

  /** Returns the lifetime of the token. @throws Refusal if it would not be positive. */
  #lifeOf(settings: TokenSettings, mount: MountEntry, nowMs = this.#parts.world.clock.nowMs()): NonNullable<Lifetime> {
    const life = lifetime({
      ...tokenLimitsOf(mount, this.#parts.limits, settings.maxTtlSeconds),
      ttlSeconds: settings.ttlSeconds,
      periodSeconds: settings.periodSeconds,
      explicitMaxTtlSeconds: settings.explicitMaxTtlSeconds,
      issuedAtMs: nowMs,
      nowMs,
    })
    if (life === undefined) throw fail('out_of_range', ['the lifetime must be positive'])
    return life
  }

  /**
   * Revokes a token whose mount was removed during the login. The removal of the mount may have listed its tokens
   * before this one was stored.
   */
  async #takeBack(token: string, mount: MountEntry): Promise<void> {
    const { tokens, identities } = this.#parts
    await tokens.revoke(tokens.idOf(token))
    try {
      await identities.removeMount(mount)
    } catch (cause) {
      // What logins at a shared mount left in the identities is removed by the primary. A mount that a filter took away
      // here is still there.
      if (!(cause instanceof WriteNotAllowed)) throw cause
    }
  }
}

function loginPolicies(settings: TokenSettings): readonly string[] {
  const policies = new Set(sanitizePolicies(settings.policies))
  // A login never grants `root`, whatever the role says (Interface 2.2).
  if (policies.has('root')) throw fail('not_assignable', ['auth methods cannot create root tokens'])
  if (!settings.noDefaultPolicy) policies.add('default')
  return [...policies].sort()
}

/** A mount can force a token type. Otherwise the role decides, and the mount supplies the default. */
function tokenTypeOf(mount: MountEntry, { type }: TokenSettings): TokenEntry['type'] {
  switch (mount.config.tokenType) {
    case 'service':
      return 'service'
    case 'batch':
      return 'batch'
    case 'default-batch':
      return type === 'service' ? 'service' : 'batch'
    default:
      return type === 'batch' ? 'batch' : 'service'
  }
}

/**
 * Returns the lifetime limits of a login's tokens. Those of the mount replace those of the system; a role can only
 * narrow the maximum.
 */
export function tokenLimitsOf(mount: MountEntry | undefined, system: TokenLimits, roleMaxTtlSeconds = 0): TokenLimits {
  const mountMax = mount?.config.maxLeaseTtlSeconds ?? 0
  const mountDefault = mount?.config.defaultLeaseTtlSeconds ?? 0
  const maxTtlSeconds = mountMax > 0 ? mountMax : system.maxTtlSeconds
  return {
    defaultTtlSeconds: mountDefault > 0 ? mountDefault : system.defaultTtlSeconds,
    maxTtlSeconds: roleMaxTtlSeconds > 0 ? Math.min(roleMaxTtlSeconds, maxTtlSeconds) : maxTtlSeconds,
  }
}
