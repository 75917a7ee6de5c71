// Prolongs tokens, by what their role or mount says now.
import { fail } from '../api/errors.ts'
import type { Answer } from '../api/request.ts'
import type { World } from '../lib/world.ts'
import { isBatchText } from './batch-tokens.ts'
import { tokenLimitsOf } from './login-service.ts'
import type { Identities } from './subject.ts'
import { authBlock, type TokenEntry } from './token-entry.ts'
import { lifetime } from './token-lifetime.ts'
import { type LoginMounts, TOKEN_MOUNT, type TokenLimits } from './token-rules.ts'
import type { TokenStore } from './token-store.ts'

export type RenewalParts = {
  readonly tokens: TokenStore
  readonly identities: Identities
  readonly world: World
  readonly limits: TokenLimits
  readonly mounts: () => LoginMounts
}

type RenewalTerms = {
  readonly limits: TokenLimits
  /** 0: the default of the mount; absent: what the token was made with. */
  readonly ttlSeconds?: number
  readonly periodSeconds?: number
}

export class TokenRenewal {
  readonly #parts: RenewalParts

  constructor(parts: RenewalParts) {
    this.#parts = parts
  }

  /** @throws Refusal for one that is not live, or cannot be renewed */
  async renew(token: string, incrementSeconds: number): Promise<Answer> {
    const { tokens } = this.#parts
    if (isBatchText(token) && (await tokens.find(token)) !== undefined) {
      throw fail('not_renewable', ['batch tokens cannot be renewed'])
    }
    return this.renewById(tokens.idOf(token), incrementSeconds, token)
  }

  /** `shown` is the token's text, where the caller gave it. */
  async renewById(id: string, incrementSeconds: number, shown = ''): Promise<Answer> {
    const { tokens, identities, world } = this.#parts
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
    const subject = entry.entityId === '' ? undefined : await identities.subject(entry.entityId)
    // Renewal answers with the token as it was made: the uses that are left are told by look-up.
    const asMade = { ...entry, numUses: entry.usesGiven ?? entry.numUses }
    return { auth: authBlock(shown, asMade, nowMs, subject?.policies), warnings }
  }

  /** A token that a login gave is prolonged by what its role says now; the method may refuse (Interface 2.2). */
  async #termsOf(id: string): Promise<RenewalTerms> {
    const { tokens, identities, limits } = this.#parts
    const mounts = this.#parts.mounts()
    const live = await tokens.findById(id)
    if (live === undefined) throw fail('no_such_token', ['token not found'])
    const { login, entityId } = live.entry
    if (login === null) return { limits: tokenLimitsOf(mounts.find(TOKEN_MOUNT), limits) }
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

/** Lifetimes are whole seconds: the end of what is left of one could lie beyond the hard end (threats T-01). */
const lastMs = ({ explicitMaxTtlSeconds, createdAtMs }: TokenEntry): number =>
  explicitMaxTtlSeconds > 0 ? createdAtMs + explicitMaxTtlSeconds * 1000 : Infinity
