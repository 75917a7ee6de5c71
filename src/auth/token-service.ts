// The rules for making and prolonging tokens; token-store.ts keeps them.
import { fail } from '../api/errors.ts'
import type { LoginMethod } from '../api/login.ts'
import type { MountEntry } from '../api/mount.ts'
import type { Answer, Caller } from '../api/request.ts'
import type { World } from '../lib/world.ts'
import { limitsOf } from './login-service.ts'
import type { PolicyStore } from './policy-store.ts'
import type { Identities } from './subject.ts'
import { authBlock, isRoot, type TokenEntry, tokenInfo } from './token-entry.ts'
import { lifetime } from './token-lifetime.ts'
import { sanitizePolicies, type TokenLimits } from './token-rules.ts'
import type { LiveToken, TokenStore } from './token-store.ts'

export type TokenRequest = {
  readonly id: string | undefined
  readonly policies: readonly string[] | undefined
  readonly meta: Readonly<Record<string, string>> | undefined
  readonly no_parent: boolean
  readonly no_default_policy: boolean
  readonly renewable: boolean
  readonly ttl: number
  readonly type: string
  readonly explicit_max_ttl: number
  readonly display_name: string
  readonly num_uses: number
  readonly period: number
  readonly entity_alias: string
}

/** What renewal needs of the mount table. */
export interface LoginMounts {
  find(path: string): MountEntry | undefined
  /** The login mount with this UUID, if it is still there. */
  loginMethod(uuid: string): { readonly mount: MountEntry; readonly method: LoginMethod } | undefined
}

type RenewalTerms = {
  readonly limits: TokenLimits
  /** 0: the default of the mount; absent: what the token was made with. */
  readonly ttlSeconds?: number
  readonly periodSeconds?: number
}

const TOKEN_MOUNT = 'auth/token/'

export class TokenService {
  readonly tokens: TokenStore
  readonly #policies: PolicyStore
  readonly #world: World
  readonly #limits: TokenLimits
  readonly #identities: Identities
  #mounts: LoginMounts | undefined

  constructor(parts: {
    readonly tokens: TokenStore
    readonly policies: PolicyStore
    readonly identities: Identities
    readonly world: World
    readonly limits: TokenLimits
  }) {
    this.tokens = parts.tokens
    this.#policies = parts.policies
    this.#identities = parts.identities
    this.#world = parts.world
    this.#limits = parts.limits
  }

  /** The mount table holds this engine: it is told of the table after both exist. */
  tie(mounts: LoginMounts): void {
    this.#mounts = mounts
  }

  nowMs(): number {
    return this.#world.clock.nowMs()
  }

  /** @throws Refusal `bad_token` for one that is not live */
  async describe(token: string): Promise<Record<string, unknown>> {
    const found = await this.tokens.find(token)
    if (found === undefined) throw fail('bad_token', [])
    return tokenInfo(token, found.entry, this.nowMs())
  }

  /** What the caller's own token was when the request was admitted: on its last use nothing is left to look up. */
  describeCaller(caller: Caller): Record<string, unknown> {
    return tokenInfo(caller.token, caller.entry as TokenEntry, this.nowMs())
  }

  async create(
    caller: Caller,
    wanted: TokenRequest,
    made: { readonly path: string; readonly orphanByPath: boolean },
  ): Promise<Answer> {
    // As it was when it was let in: on its last use there is nothing left to look up.
    checkKind(wanted, caller.entry as TokenEntry)
    const parent = await this.tokens.findById(caller.tokenId)
    if (parent === undefined) throw fail('permission_denied', [])
    checkSudo(caller, wanted, made.orphanByPath)
    const policies = this.#policiesFor(caller, parent, wanted)
    const orphan = wanted.no_parent
    const nowMs = this.nowMs()
    const isRootToken = policies.includes('root')
    const life = this.#lifetimeOf(wanted, parent, isRootToken, nowMs)
    const token = wanted.id ?? this.tokens.newToken()
    const entry: TokenEntry = {
      format: 1,
      namespace: parent.entry.namespace,
      accessor: this.tokens.newAccessor(),
      policies,
      path: made.path,
      displayName: displayName(wanted.display_name),
      meta: wanted.meta ?? null,
      parent: orphan ? '' : parent.id,
      createdAtMs: nowMs,
      creationTtlSeconds: life.ttlSeconds,
      explicitMaxTtlSeconds: wanted.explicit_max_ttl,
      periodSeconds: wanted.period,
      renewable: life.ttlSeconds > 0 && wanted.renewable,
      expiry: life.ttlSeconds > 0 ? { atMs: nowMs + life.ttlSeconds * 1000 } : { never: true },
      lastRenewalAtMs: null,
      numUses: wanted.num_uses,
      type: 'service',
      entityId: orphan ? '' : parent.entry.entityId,
      boundCidrs: orphan || life.ttlSeconds === 0 ? [] : parent.entry.boundCidrs,
      role: '',
      login: null,
    }
    if (!(await this.tokens.insert(token, entry))) {
      // The caller was let in, and its token revoked before this was stored.
      if (!orphan && (await this.tokens.findById(caller.tokenId)) === undefined) throw fail('permission_denied', [])
      throw fail('bad_request', ['cannot create a token with a duplicate ID'])
    }
    const warnings = [...life.warnings, ...(await this.#missing(policies))]
    return { auth: authBlock(token, entry, nowMs), warnings }
  }

  /** A root token that never ends, for initialisation and the development server. */
  rootEntry(): TokenEntry {
    return {
      format: 1,
      namespace: 'root',
      accessor: this.tokens.newAccessor(),
      policies: ['root'],
      path: 'auth/token/root',
      displayName: 'root',
      meta: null,
      parent: '',
      createdAtMs: this.nowMs(),
      creationTtlSeconds: 0,
      explicitMaxTtlSeconds: 0,
      periodSeconds: 0,
      renewable: false,
      expiry: { never: true },
      lastRenewalAtMs: null,
      numUses: 0,
      type: 'service',
      entityId: '',
      boundCidrs: [],
      role: '',
      login: null,
    }
  }

  async renew(token: string, incrementSeconds: number): Promise<Answer> {
    const nowMs = this.nowMs()
    let warnings: readonly string[] = []
    const id = this.tokens.idOf(token)
    const terms = await this.#termsOf(id)
    const entry = await this.tokens.update(id, (old) => {
      if (!old.renewable) throw fail('bad_request', ['lease is not renewable: the token never expires or was made so'])
      const life = lifetime({
        ttlSeconds: incrementSeconds > 0 ? incrementSeconds : (terms.ttlSeconds ?? old.creationTtlSeconds),
        periodSeconds: terms.periodSeconds ?? old.periodSeconds,
        explicitMaxTtlSeconds: old.explicitMaxTtlSeconds,
        ...terms.limits,
        issuedAtMs: old.createdAtMs,
        nowMs,
      })
      if (life === undefined) throw fail('bad_request', ['past the max TTL, cannot renew'])
      warnings = life.warnings
      return { ...old, lastRenewalAtMs: nowMs, expiry: { atMs: nowMs + life.ttlSeconds * 1000 } }
    })
    if (entry === undefined) throw fail('bad_request', ['token not found'])
    const subject = entry.entityId === '' ? undefined : await this.#identities.subject(entry.entityId)
    return { auth: authBlock(token, entry, nowMs, subject?.policies), warnings }
  }

  /** A token that a login gave is prolonged by what its role says now; the method may refuse (Interface 2.2). */
  async #termsOf(id: string): Promise<RenewalTerms> {
    const entry = (await this.tokens.findById(id))?.entry
    if (entry === undefined || entry.login === null) {
      return { limits: limitsOf(this.#mounts?.find(TOKEN_MOUNT), this.#limits) }
    }
    const origin = this.#mounts?.loginMethod(entry.login.mountUuid)
    if (origin === undefined) throw fail('bad_request', ['the login method that gave the token is gone, cannot renew'])
    const { settings } = await origin.method.renewLogin(entry.login.renewal)
    return {
      limits: limitsOf(origin.mount, this.#limits, settings.maxTtlSeconds),
      ttlSeconds: settings.ttlSeconds,
      periodSeconds: settings.periodSeconds,
    }
  }

  #policiesFor(caller: Caller, parent: LiveToken, wanted: TokenRequest): readonly string[] {
    const requested = sanitizePolicies(wanted.policies ?? [])
    const own = parent.entry.policies
    const root = isRoot(parent.entry)
    if (requested.includes('root') && !root) {
      throw fail('bad_request', ['root tokens may not be created without parent token being root'])
    }
    if (requested.length > 0 && !root && !caller.hasSudo()) {
      const beyond = requested.filter((name) => !own.includes(name))
      if (beyond.length > 0)
        throw fail('bad_request', [`child policies must be subset of parent, "${beyond[0]}" is not`])
    }
    const chosen = new Set(requested.length > 0 ? requested : own)
    if (chosen.has('root')) return ['root']
    const sudo = root || caller.hasSudo()
    if (wanted.no_default_policy) chosen.delete('default')
    else if (sudo || own.includes('default')) chosen.add('default')
    return [...chosen].sort()
  }

  #lifetimeOf(wanted: TokenRequest, parent: LiveToken, isRootToken: boolean, nowMs: number) {
    const asksForEnd = wanted.ttl > 0 || wanted.period > 0 || wanted.explicit_max_ttl > 0
    if (isRootToken && !asksForEnd) {
      if ('atMs' in parent.entry.expiry) {
        throw fail('bad_request', ['expiring root tokens cannot create non-expiring root tokens, give a ttl'])
      }
      return { ttlSeconds: 0, warnings: [] }
    }
    const life = lifetime({
      ttlSeconds: wanted.ttl,
      periodSeconds: wanted.period,
      explicitMaxTtlSeconds: wanted.explicit_max_ttl,
      ...limitsOf(this.#mounts?.find(TOKEN_MOUNT), this.#limits),
      issuedAtMs: nowMs,
      nowMs,
    })
    if (life === undefined) throw fail('bad_request', ['the lifetime must be positive'])
    return life
  }

  async #missing(policies: readonly string[]): Promise<string[]> {
    const warnings: string[] = []
    for (const name of policies) {
      if (name !== 'root' && (await this.#policies.read(name)) === undefined)
        warnings.push(`Policy "${name}" does not exist`)
    }
    return warnings
  }
}

function checkKind(wanted: TokenRequest, caller: TokenEntry): void {
  if (caller.numUses !== 0) throw fail('bad_request', ['restricted use token cannot generate child tokens'])
  if (wanted.type !== 'service' && wanted.type !== 'default' && wanted.type !== '') {
    throw fail('field_invalid', ['type', `invalid 'token_type' value: only service tokens are offered`])
  }
  if (wanted.entity_alias !== '')
    throw fail('field_invalid', ['entity_alias', 'needs a token role, which is not offered yet'])
}

function checkSudo(caller: Caller, wanted: TokenRequest, orphanByPath: boolean): void {
  if (wanted.no_parent && !orphanByPath && !caller.hasSudo()) {
    throw fail('bad_request', ['root or sudo privileges required to create orphan token'])
  }
  if (wanted.period > 0 && !caller.hasSudo())
    throw fail('bad_request', ['root or sudo privileges required to create periodic token'])
  if (wanted.id === undefined) return
  if (!caller.hasSudo()) throw fail('bad_request', ['root or sudo privileges required to specify token id'])
  checkTokenText(wanted.id)
}

const OWN_PREFIXES = ['hvs.', 'hvb.', 'hvr.', 's.', 'b.', 'r.']

/** A token of the caller's own making: short enough for a header, and never like one of ours. */
export function checkTokenText(text: string): void {
  const printable = [...text].every((character) => character > ' ' && character <= '~')
  if (text === '' || text.length > 512 || !printable)
    throw fail('field_invalid', ['id', 'must be 1 to 512 printable ASCII characters'])
  if (text.includes('.') || OWN_PREFIXES.some((prefix) => text.startsWith(prefix))) {
    throw fail('field_invalid', ['id', "must not contain '.' nor begin like a generated token"])
  }
}

const DISPLAY_NAME_MAX = 256

function displayName(wanted: string): string {
  if (wanted === '') return 'token'
  let name = 'token-'
  for (const character of wanted.slice(0, DISPLAY_NAME_MAX)) {
    const plain =
      (character >= '0' && character <= '9') ||
      (character >= 'a' && character <= 'z') ||
      (character >= 'A' && character <= 'Z')
    name += plain || character === '-' ? character : '-'
  }
  return name
}
