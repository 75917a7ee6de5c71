// Renews tokens, by what their role or mount says now (Interface 2.2).
import { fail } from '../api/errors.ts'
import type { Answer } from '../api/request.ts'
import type { World } from '../lib/world.ts'
import { tokenLimitsOf } from './login-service.ts'
import type { RightsFinder } from './rights.ts'
import type { Identities } from './subject.ts'
import { authBlock, type TokenEntry } from './token-entry.ts'
import { lifetime } from './token-lifetime.ts'
import { type LoginMounts, TOKEN_MOUNT, type TokenLimits } from './token-rules.ts'
import type { TokenStore } from './token-store.ts'

/** What renewal needs of its node. `mounts` is a function, since the mount table is made after this. */
export type RenewalParts = {
  readonly tokens: TokenStore
  readonly identities: Identities
  readonly rights: RightsFinder
  readonly world: World
  readonly limits: TokenLimits
  readonly mounts: () => LoginMounts
}

type RenewalTerms = {
  readonly limits: TokenLimits
  /** 0 means the default of the mount; absent, the TTL that the token was made with. */
  readonly ttlSeconds?: number
  readonly periodSeconds?: number
}

/** Renews tokens on the writing thread, for the token endpoints and for leases. */
export class TokenRenewal {
  readonly #parts: RenewalParts

  constructor(parts: RenewalParts) {
    this.#parts = parts
  }

  /** Renews by the token's text. @throws Refusal if it is no live token of the namespace, or cannot be renewed. */
  async renew(namespaceId: string, token: string, incrementSeconds: number): Promise<Answer> {
    const found = await this.#parts.tokens.find(token)
    if (found?.entry.namespace !== namespaceId) throw fail('no_such_token', ['token not found'])
    if (found.entry.type === 'batch') throw fail('not_renewable', ['batch tokens cannot be renewed'])
    return this.renewById(found.id, incrementSeconds, token)
  }

  /** Renews by storage id. `shown` is the token's text if the caller gave it; without it the answer holds none. */
  async renewById(id: string, incrementSeconds: number, shown = ''): Promise<Answer> {
    const { tokens, rights, world } = this.#parts
    const nowMs = world.clock.nowMs()
    let warnings: readonly string[] = []
    const terms = await this.#termsOf(id)
    const entry = await tokens.update(id, (old) => {
      if (!old.renewable)
        throw fail('not_renewable', ['lease is not renewable: the token never expires or was made so'])
      const life = lifetime({
        ttlSeconds: incrementSeconds > 0 ? incrementSeconds : (terms.ttlSeconds ?? old.creationTtlSeconds),
        periodSeconds: terms.periodSeconds ?? old.periodSeconds,
        explicitMaxTtlSeconds: old.explicitMaxTtlSeconds,
        ...terms.limits,
        issuedAtMs: old.createdAtMs,
        nowMs,
      })
      if (life === undefined) throw fail('not_renewable', ['past the max TTL, cannot renew'])
      warnings = life.warnings
      return { ...old, lastRenewalAtMs: nowMs, expiry: { atMs: Math.min(nowMs + life.ttlSeconds * 1000, lastMs(old)) } }
    })
    if (entry === undefined) throw fail('no_such_token', ['token not found'])
    const identityPolicies = await rights.identityPoliciesOf(entry)
    // The answer shows the uses that the token was made with; look-up shows those that are left.
    const asMade = { ...entry, numUses: entry.usesGiven ?? entry.numUses }
    return { auth: authBlock(shown, asMade, nowMs, identityPolicies), warnings }
  }

  /**
   * Returns the terms of a renewal. The login method that gave a token decides by its role's present settings, and may
   * refuse (Interface 2.2).
   */
  async #termsOf(id: string): Promise<RenewalTerms> {
    const { tokens, identities, limits } = this.#parts
    const mounts = this.#parts.mounts()
    const live = await tokens.findById(id)
    if (live === undefined) throw fail('no_such_token', ['token not found'])
    const { login, entityId, namespace } = live.entry
    if (login === null) return { limits: tokenLimitsOf(mounts.findIn(namespace, TOKEN_MOUNT), limits) }
    const origin = mounts.loginMethod(login.mountUuid)
    if (origin === undefined)
      throw fail('not_renewable', ['the login method that gave the token is gone, cannot renew'])
    const { settings, groups } = await origin.method.renewLogin(login.renewal)
    if (groups !== undefined && entityId !== '') await identities.groupsOfLogin(origin.mount, entityId, groups)
    return {
      limits: tokenLimitsOf(origin.mount, limits, settings.maxTtlSeconds),
      ttlSeconds: settings.ttlSeconds,
      periodSeconds: settings.periodSeconds,
    }
  }
}

/** The hard end of a token. Ages are cut to whole seconds, so a renewal could otherwise end after it (threats T-01). */
const lastMs = ({ explicitMaxTtlSeconds, createdAtMs }: TokenEntry): number =>
  explicitMaxTtlSeconds > 0 ? createdAtMs + explicitMaxTtlSeconds * 1000 : Infinity
