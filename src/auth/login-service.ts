// Makes tokens for callers that a login method recognised. The rules are the same for all methods, so that none can
// forget one.
import { fail } from '../api/errors.ts'
import type { Login, TokenSettings } from '../api/login.ts'
import type { LoginRule } from '../api/login-method.ts'
import type { MountEntry } from '../api/mount.ts'
import type { Answer } from '../api/request.ts'
import { isInCidrs } from '../lib/cidr.ts'
import type { World } from '../lib/world.ts'
import type { Identities } from './subject.ts'
import { authBlock, type TokenEntry } from './token-entry.ts'
import { type Lifetime, lifetime } from './token-lifetime.ts'
import { sanitizePolicies, type TokenLimits } from './token-rules.ts'
import type { TokenStore } from './token-store.ts'

/** Of the request that logged in. */
export type LoginRequest = { readonly path: string; readonly remoteAddress: string }

type Parts = {
  readonly tokens: TokenStore
  readonly identities: Identities
  readonly world: World
  readonly limits: TokenLimits
  readonly isMounted: (mountUuid: string) => boolean
}

export class LoginService {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** What `issue` demands besides the address, for methods that explain logins: in the order in which it refuses. */
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

  /** @throws Refusal */
  async issue(login: Login, mount: MountEntry, request: LoginRequest): Promise<Answer> {
    const { tokens, identities, world } = this.#parts
    const { settings } = login
    if (!isInCidrs(request.remoteAddress, settings.boundCidrs)) throw fail('permission_denied', [])
    const policies = loginPolicies(settings)
    const entityId = login.alias === undefined ? '' : await identities.entityOfLogin(mount, login.alias, login.groups)
    const subject = entityId === '' ? undefined : await identities.subject(entityId)
    const nowMs = world.clock.nowMs()
    const type = tokenTypeOf(mount, settings)
    const life = this.#lifeOf(settings, mount, nowMs)
    const entry: TokenEntry = {
      format: 1,
      type,
      namespace: mount.namespace,
      accessor: type === 'batch' ? '' : tokens.newAccessor(),
      policies,
      path: request.path,
      displayName: displayNameOf(mount, login.displayName),
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
    const token = await tokens.issue(entry)
    if (!this.#parts.isMounted(mount.uuid)) {
      await this.#takeBack(token, mount)
      throw fail('no_route', [request.path])
    }
    return { isNewToken: true, auth: authBlock(token, entry, nowMs, subject?.policies), warnings: life.warnings }
  }

  /** @throws Refusal */
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

  /** The mount went while somebody logged in: its removal may have looked before this login was stored. */
  async #takeBack(token: string, mount: MountEntry): Promise<void> {
    const { tokens, identities } = this.#parts
    await tokens.revoke(tokens.idOf(token))
    await identities.removeMount(mount)
  }
}

function loginPolicies(settings: TokenSettings): readonly string[] {
  const policies = new Set(sanitizePolicies(settings.policies))
  // A login never gives all rights, whoever wrote the role (Interface 2.2).
  if (policies.has('root')) throw fail('not_assignable', ['auth methods cannot create root tokens'])
  if (!settings.noDefaultPolicy) policies.add('default')
  return [...policies].sort()
}

/** The mount forces a type or has the last word where the role says nothing. */
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

/** What a mount leaves open is as the system has it; a role narrows it further. */
export function tokenLimitsOf(mount: MountEntry | undefined, system: TokenLimits, roleMaxTtlSeconds = 0): TokenLimits {
  const mountMax = mount?.config.maxLeaseTtlSeconds ?? 0
  const mountDefault = mount?.config.defaultLeaseTtlSeconds ?? 0
  const maxTtlSeconds = mountMax > 0 ? mountMax : system.maxTtlSeconds
  return {
    defaultTtlSeconds: mountDefault > 0 ? mountDefault : system.defaultTtlSeconds,
    maxTtlSeconds: roleMaxTtlSeconds > 0 ? Math.min(roleMaxTtlSeconds, maxTtlSeconds) : maxTtlSeconds,
  }
}

/** `userpass-bob` for auth/userpass/. */
function displayNameOf(mount: MountEntry, name: string): string {
  const path = mount.path.slice('auth/'.length, -1).replaceAll('/', '-')
  return name === '' ? path : `${path}-${name}`
}
