// What the token endpoints work with: creation, look-up, renewal and revocation over the store.
import { fail } from '../api/errors.ts'
import { type Namespace, ROOT_ID, splitId } from '../api/namespace.ts'
import type { Answer, Caller } from '../api/request.ts'
import type { World } from '../lib/world.ts'
import { isBatchText } from './batch-tokens.ts'
import type { IdentityPolicies } from './subject.ts'
import { type CreationForm, type CreationParts, TokenCreation, type TokenRequest } from './token-creation.ts'
import { type TokenEntry, tokenInfo } from './token-entry.ts'
import { accessorFolder, ROOT_TOKEN_PATH } from './token-keys.ts'
import { TokenRenewal } from './token-renewal.ts'
import type { TokenRoles } from './token-role.ts'
import type { LiveToken, TokenStore } from './token-store.ts'
import type { TokenTidy } from './token-tidy.ts'

const ACCESSOR_PAGE = 500

/**
 * The engine of the mounts auth/token/ of all namespaces. Every thread has one; what it may write depends on its store.
 * A token is known only to the namespace that it is of, where the request that names it was moved to.
 */
export class TokenService {
  readonly tokens: TokenStore
  readonly roles: TokenRoles
  readonly tidy: TokenTidy
  readonly renewal: TokenRenewal
  readonly #parts: CreationParts
  readonly #world: World
  readonly #creation: TokenCreation

  constructor(parts: CreationParts & { readonly tidy: TokenTidy }) {
    this.tokens = parts.tokens
    this.roles = parts.roles
    this.tidy = parts.tidy
    this.#parts = parts
    this.#world = parts.world
    this.#creation = new TokenCreation(parts)
    this.renewal = new TokenRenewal(parts)
  }

  /** Makes a token of the namespace. @throws Refusal as TokenCreation. */
  create(namespace: Namespace, caller: Caller, wanted: TokenRequest, form: CreationForm): Promise<Answer> {
    return this.#creation.create(namespace, caller, wanted, form)
  }

  /** Returns what look-up shows of a token. @throws Refusal `bad_token` if it is not live. */
  async describe(namespaceId: string, token: string): Promise<Record<string, unknown>> {
    const found = await this.tokens.find(token)
    if (found?.entry.namespace !== namespaceId) throw fail('bad_token', [])
    return this.#info(token, found.entry)
  }

  /** Returns the same by accessor, without the token's text. @throws Refusal if no live token has it. */
  async describeAccessor(namespaceId: string, accessor: string): Promise<Record<string, unknown>> {
    const { entry } = await this.byAccessor(namespaceId, accessor)
    return this.#info('', entry)
  }

  /**
   * Returns what look-up shows of the caller's own token, as it was when the request was admitted: on its last use
   * nothing is left to look up.
   */
  describeCaller(caller: Caller): Record<string, unknown> | Promise<Record<string, unknown>> {
    return this.#info(caller.token, caller.entry as TokenEntry)
  }

  #info(shown: string, entry: TokenEntry): Record<string, unknown> | Promise<Record<string, unknown>> {
    const nowMs = this.#world.clock.nowMs()
    const namespacePath = this.tokens.namespaceOf(entry)?.path ?? ''
    const identity = this.#parts.rights.identityPoliciesOf(entry)
    const describe = (found: IdentityPolicies) => tokenInfo(shown, entry, { nowMs, namespacePath, identity: found })
    return identity instanceof Promise ? identity.then(describe) : describe(identity)
  }

  /** Finds a live token by its accessor. @throws Refusal if there is none, or its namespace is another one. */
  async byAccessor(namespaceId: string, accessor: string): Promise<LiveToken> {
    const found = await this.findByAccessor(namespaceId, accessor)
    if (found === undefined) throw fail('no_such_token', ['invalid accessor: no token has it'])
    return found
  }

  /**
   * Like `byAccessor`, but returns undefined if no live token has it.
   * @throws Refusal for an accessor of another namespace, whether it exists or not
   */
  async findByAccessor(namespaceId: string, accessor: string): Promise<LiveToken | undefined> {
    if (splitId(accessor).namespaceId !== namespaceId)
      throw fail('no_such_token', ['invalid accessor: it is that of a token in another namespace'])
    return this.tokens.findByAccessor(accessor)
  }

  /** Revokes a token and all its descendants; an unknown one is no error. @throws Refusal for a batch token. */
  async revoke(namespaceId: string, token: string): Promise<void> {
    if (isBatchText(token) && (await this.tokens.find(token)) !== undefined) {
      throw fail('token_cannot', ['batch tokens cannot be revoked'])
    }
    const id = this.tokens.idOf(token)
    // Without an entry there still may be left what an interrupted removal did not come to.
    const entry = await this.tokens.entryOf(id)
    if (entry === undefined || entry.namespace === namespaceId) await this.tokens.revoke(id)
  }

  /** Revokes a token alone. @throws Refusal if it is not live, or a batch token. */
  async revokeOrphaning(namespaceId: string, token: string): Promise<void> {
    const found = await this.tokens.find(token)
    if (found?.entry.namespace !== namespaceId) throw fail('no_such_token', ['token to revoke not found'])
    if (found.entry.type === 'batch') throw fail('token_cannot', ['batch tokens cannot be revoked'])
    await this.tokens.removal.removeOrphaning(found.id)
  }

  /**
   * Returns the accessors of the namespace's live tokens in the order of their hashes, after that of `after`. A `limit`
   * of 0 means all.
   */
  async accessors(namespaceId: string, after: string, limit: number): Promise<string[]> {
    const accessors: string[] = []
    const folder = accessorFolder(namespaceId)
    for (let last = after === '' ? '' : this.tokens.idOf(after); ; ) {
      const names = await this.tokens.view.list(folder, { after: last, limit: ACCESSOR_PAGE })
      for (const name of names) {
        // In the folder of the root lie those of the other namespaces.
        if (name.endsWith('/')) continue
        const id = await this.tokens.view.get(folder + name)
        const live = id === undefined ? undefined : await this.tokens.findById(id.toString('latin1'))
        if (live !== undefined) accessors.push(live.entry.accessor)
        if (limit > 0 && accessors.length === limit) return accessors
      }
      if (names.length < ACCESSOR_PAGE) return accessors
      last = names.at(-1) ?? ''
      // There may be a million tokens: yield, so that other requests run in between.
      await this.#world.timers.sleep(0)
    }
  }

  /** Returns the entry of a root token that never ends, for initialisation and the development server. */
  rootEntry(): TokenEntry {
    return {
      format: 1,
      namespace: ROOT_ID,
      accessor: this.tokens.newAccessor(ROOT_ID),
      policies: ['root'],
      path: ROOT_TOKEN_PATH,
      displayName: 'root',
      meta: null,
      parent: '',
      createdAtMs: this.#world.clock.nowMs(),
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
}
