// Makes the tokens that callers ask for by auth/token/create. A request that breaks several rules is refused for the
// first, in the order of the checks here.
import { fail } from '../api/errors.ts'
import { type Namespace, ROOT_ID } from '../api/namespace.ts'
import type { Answer, Caller } from '../api/request.ts'
import { intersectCidrs } from '../lib/cidr.ts'
import type { World } from '../lib/world.ts'
import { tokenLimitsOf } from './login-service.ts'
import type { PolicyStore } from './policy-store.ts'
import type { RightsFinder } from './rights.ts'
import { matchesAny, type PolicyWish, policiesOfNew } from './role-policies.ts'
import type { Identities } from './subject.ts'
import { authBlock, isRoot, type TokenEntry } from './token-entry.ts'
import { lifetime } from './token-lifetime.ts'
import { MOST_ANCESTORS } from './token-lines.ts'
import type { RoleTokenType, TokenRole, TokenRoles } from './token-role.ts'
import type { LoginMounts, TokenLimits } from './token-rules.ts'
import { TOKEN_MOUNT } from './token-rules.ts'
import type { LiveToken, TokenStore } from './token-store.ts'
import { checkTokenText } from './token-text.ts'

/** The decoded fields of a request to create a token, under their wire names. Times are in seconds, 0 if not set. */
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

/** The endpoint by which a token is made, and the path of the request, under which the token's lease is listed. */
export type CreationForm =
  | { readonly by: 'create' | 'create-orphan'; readonly path: string }
  | { readonly by: 'role'; readonly path: string; readonly role: string }

/** What the creation of tokens needs of its node. */
export type CreationParts = {
  readonly tokens: TokenStore
  readonly roles: TokenRoles
  readonly policies: PolicyStore
  readonly identities: Identities
  readonly rights: RightsFinder
  readonly world: World
  readonly limits: TokenLimits
  /** A function, because the mount table is made of engines that themselves need tokens. */
  readonly mounts: () => LoginMounts
}

/** Settings that request and role decide together. */
type Terms = { readonly period: number; readonly explicitMax: number; readonly numUses: number }

/** Where, by what and when a token is made. */
type Making = {
  readonly namespace: Namespace
  readonly parent: LiveToken
  readonly isRootToken: boolean
  readonly nowMs: number
}

/** Creates tokens on the writing thread. The transaction that stores a service token checks its parent again. */
export class TokenCreation {
  readonly #parts: CreationParts

  constructor(parts: CreationParts) {
    this.#parts = parts
  }

  /**
   * Makes and stores a token of the namespace, and returns the answer that carries it. The caller's own may be another
   * one, in which it then has no policies to hand down; the new token falls with it all the same.
   * @throws Refusal naming the first rule that the request breaks.
   */
  async create(namespace: Namespace, caller: Caller, wanted: TokenRequest, form: CreationForm): Promise<Answer> {
    const parent = await this.#parentOf(caller)
    const isOutsider = parent.entry.namespace !== namespace.id
    const role = form.by === 'role' ? await this.#roleOf(namespace, form.role) : undefined
    const warnings: string[] = []
    const type = typeOf(wanted.type, role?.tokenType)
    const terms = termsOf(wanted, role, warnings)
    if (type === 'batch') refuseForBatch(wanted, terms)
    const alias = aliasOf(wanted, role)
    if (wanted.id !== undefined) checkOwnText(caller, namespace, wanted.id, warnings)
    const hasSudo = isRoot(parent.entry) || caller.hasSudo()
    // Wire text.
    if (isOutsider && !hasSudo) throw fail('sudo_required', [sudoFor('directly generate a token in a child namespace')])
    const ofParent = isOutsider ? undefined : parent.entry.policies
    const policies = policiesFor(wanted, type, { ofParent, hasSudo, role })
    if (wanted.no_parent && !hasSudo) throw fail('sudo_required', [sudoFor('create orphan token')])
    if (wanted.period > 0 && !hasSudo) throw fail('sudo_required', [sudoFor('create periodic token')])
    const orphan = wanted.no_parent || form.by === 'create-orphan' || role?.orphan === true
    if (!orphan) await this.#requireNear(parent)
    // An entity has tokens of its own namespace alone.
    const ofMaker = orphan || isOutsider ? '' : parent.entry.entityId
    const nowMs = this.#parts.world.clock.nowMs()
    const life = this.#lifetimeOf(wanted, terms, { namespace, parent, isRootToken: policies.includes('root'), nowMs })
    const entry: TokenEntry = {
      format: 1,
      namespace: namespace.id,
      accessor: type === 'batch' ? '' : this.#parts.tokens.newAccessor(namespace.id),
      policies,
      path: role === undefined || role.pathSuffix === '' ? form.path : `${form.path}/${role.pathSuffix}`,
      displayName: displayName(wanted.display_name),
      meta: wanted.meta ?? null,
      parent: orphan ? '' : parent.id,
      createdAtMs: nowMs,
      creationTtlSeconds: life.ttlSeconds,
      explicitMaxTtlSeconds: terms.explicitMax,
      periodSeconds: terms.period,
      renewable: type === 'service' && life.ttlSeconds > 0 && wanted.renewable && role?.renewable !== false,
      expiry: life.ttlSeconds > 0 ? { atMs: nowMs + life.ttlSeconds * 1000 } : { never: true },
      lastRenewalAtMs: null,
      numUses: terms.numUses,
      type,
      entityId: alias === undefined ? ofMaker : await this.#entityOf(namespace.id, alias),
      boundCidrs: boundCidrsOf(parent.entry.boundCidrs, life.ttlSeconds === 0 ? [] : (role?.boundCidrs ?? [])),
      role: form.by === 'role' ? form.role : '',
      login: null,
    }
    const token = await this.#store(entry, wanted.id)
    warnings.push(...life.warnings, ...(await this.#missing(entry)))
    const identityPolicies = await this.#parts.rights.identityPoliciesOf(entry)
    return { isNewToken: true, auth: authBlock(token, entry, nowMs, identityPolicies), warnings }
  }

  async #parentOf(caller: Caller): Promise<LiveToken> {
    if ((caller.entry as TokenEntry).type === 'batch')
      throw fail('token_cannot', ['batch tokens cannot create more tokens'])
    // Uses are judged by the entry as it was admitted: on its last use the stored token is already unusable.
    if ((caller.entry as TokenEntry).numUses !== 0)
      throw fail('token_cannot', ['restricted use token cannot generate child tokens'])
    const parent = await this.#parts.tokens.findById(caller.tokenId)
    // The token was admitted, and revoked since.
    if (parent === undefined) throw fail('permission_denied', [])
    return parent
  }

  /**
   * Refuses a child of a token that has too many ancestors, all of which must be checked for the child.
   * @throws Refusal.
   */
  async #requireNear({ entry }: LiveToken): Promise<void> {
    if ((await this.#parts.tokens.ancestorsOf(entry, MOST_ANCESTORS)) < MOST_ANCESTORS) return
    const remedy = 'make it by a token that is nearer to the first one, or by create-orphan'
    throw fail('limit_reached', [
      `a token has at most ${MOST_ANCESTORS} tokens above it, your own has as many: ${remedy}`,
    ])
  }

  async #roleOf({ id }: Namespace, name: string): Promise<TokenRole> {
    const role = await this.#parts.roles.read(id, name)
    if (role === undefined) throw fail('no_such_entry', [`unknown role ${name}`])
    return role
  }

  async #entityOf(namespaceId: string, name: string): Promise<string> {
    const mount = this.#parts.mounts().findIn(namespaceId, TOKEN_MOUNT)
    if (mount === undefined) throw new Error(`There is no mount at ${TOKEN_MOUNT}`)
    return this.#parts.identities.entityOfLogin(mount, { name, metadata: {} }, [])
  }

  #lifetimeOf(wanted: TokenRequest, terms: Terms, { namespace, parent, isRootToken, nowMs }: Making) {
    if (isRootToken && wanted.ttl === 0 && terms.period === 0 && terms.explicitMax === 0) {
      if ('atMs' in parent.entry.expiry) {
        throw fail('beyond_own_rights', ['expiring root tokens cannot create non-expiring root tokens, give a ttl'])
      }
      return { ttlSeconds: 0, warnings: [] }
    }
    const life = lifetime({
      ttlSeconds: wanted.ttl,
      periodSeconds: terms.period,
      explicitMaxTtlSeconds: terms.explicitMax,
      ...tokenLimitsOf(this.#parts.mounts().findIn(namespace.id, TOKEN_MOUNT), this.#parts.limits),
      issuedAtMs: nowMs,
      nowMs,
    })
    if (life === undefined) throw fail('out_of_range', ['the lifetime must be positive'])
    return life
  }

  async #store(entry: TokenEntry, ownText: string | undefined): Promise<string> {
    if (ownText === undefined) return this.#parts.tokens.issue(entry)
    const { tokens } = this.#parts
    if (await tokens.insert(ownText, entry)) return ownText
    if (entry.parent !== '' && (await tokens.findById(entry.parent)) === undefined) throw fail('permission_denied', [])
    throw fail('already_exists', ['cannot create a token with a duplicate ID'])
  }

  async #missing({ namespace, policies }: TokenEntry): Promise<string[]> {
    const warnings: string[] = []
    for (const name of policies) {
      if (name !== 'root' && (await this.#parts.policies.read(namespace, name)) === undefined)
        warnings.push(`Policy "${name}" does not exist`)
    }
    return warnings
  }
}

const sudoFor = (what: string): string => `root or sudo privileges required to ${what}`

/** Chooses the policies of the new token. @throws Refusal if more is asked for than may be given. */
function policiesFor(
  wanted: TokenRequest,
  type: TokenEntry['type'],
  maker: Pick<PolicyWish, 'ofParent' | 'hasSudo' | 'role'>,
): readonly string[] {
  const requested = wanted.policies ?? []
  const policies = policiesOfNew({ ...maker, requested, withoutDefault: wanted.no_default_policy })
  if (type === 'batch' && policies.includes('root')) throw fail('token_cannot', ['batch tokens cannot be root tokens'])
  return policies
}

/** `default` means the same as nothing. */
const REQUESTABLE = ['', 'default', 'service', 'batch']

/** A fixed type of the role wins over the request, the request over the default of the role. */
function typeOf(requested: string, ofRole: RoleTokenType = 'default-service'): TokenEntry['type'] {
  if (!REQUESTABLE.includes(requested)) {
    throw fail('field_invalid', ['type', "invalid 'token_type' value: service or batch"])
  }
  if (ofRole === 'service' || ofRole === 'batch') return ofRole
  if (requested === 'service' || requested === 'batch') return requested
  return ofRole === 'default-batch' ? 'batch' : 'service'
}

/** Joins the settings of request and role. If both set one, the stricter holds. */
function termsOf(wanted: TokenRequest, role: TokenRole | undefined, warnings: string[]): Terms {
  const lesser = (label: string, ofRequest: number, ofRole = 0): number => {
    if (ofRequest === 0 || ofRole === 0) return Math.max(ofRequest, ofRole)
    const seconds = Math.min(ofRequest, ofRole)
    const both = `${label} specified both during creation call and in role`
    warnings.push(`${both}; using the lesser value of ${seconds} seconds`)
    return seconds
  }
  const uses = [wanted.num_uses, role?.numUses ?? 0].filter((count) => count > 0)
  return {
    period: lesser('Period', wanted.period, role?.periodSeconds),
    explicitMax: lesser('Explicit max TTL', wanted.explicit_max_ttl, role?.explicitMaxTtlSeconds),
    numUses: uses.length === 0 ? 0 : Math.min(...uses),
  }
}

/** Batch tokens have no stored state, so nothing that needs any can be set. @throws Refusal naming the field. */
function refuseForBatch(wanted: TokenRequest, terms: Terms): void {
  const set = (name: string) => fail('fields_conflict', [`batch tokens cannot have "${name}" set`])
  if (terms.explicitMax > 0) throw set('explicit_max_ttl')
  if (terms.numUses > 0) throw set('num_uses')
  if (terms.period > 0) throw set('period')
  if (wanted.id !== undefined) throw set('id')
}

function aliasOf({ entity_alias: alias }: TokenRequest, role: TokenRole | undefined): string | undefined {
  if (alias === '') return undefined
  if (role === undefined)
    throw fail('field_not_applicable', ["'entity_alias' is only allowed in combination with a token role"])
  const name = alias.toLowerCase()
  if (!matchesAny(role.allowedEntityAliases, name)) {
    throw fail('not_assignable', ["invalid 'entity_alias' value: the role does not allow it"])
  }
  return name
}

function checkOwnText(caller: Caller, namespace: Namespace, text: string, warnings: string[]): void {
  if (!caller.hasSudo()) throw fail('sudo_required', [sudoFor('specify token id')])
  // Wire text.
  if (namespace.id !== ROOT_ID)
    throw fail('field_not_applicable', ['token IDs can only be manually specified in the root namespace'])
  checkTokenText(text)
  warnings.push('A token of your own text is only as hard to find as that text: leave "id" out for a random one')
}

/**
 * Returns the addresses that the new token is bound to. No token, orphans included, may be used from an address that
 * its maker is barred from, so a role's addresses only narrow those of the caller.
 * @throws Refusal if none is left, since an empty list would allow all.
 */
function boundCidrsOf(ofCaller: readonly string[], ofRole: readonly string[]): readonly string[] {
  if (ofRole.length === 0) return ofCaller
  if (ofCaller.length === 0) return ofRole
  const both = intersectCidrs(ofRole, ofCaller)
  if (both.length > 0) return both
  const remedy = 'take a role that names some of them, or a token that is bound to none'
  throw fail('beyond_own_rights', [
    `token_bound_cidrs of the role has no address that your own token is bound to: ${remedy}`,
  ])
}

/** Characters of a requested display name that are kept. */
const DISPLAY_NAME_MAX = 256

/** Returns the name for logs: prefixed, and with letters, digits and dashes only, so that it cannot forge log text. */
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
