// What the endpoints of tokens work with: the rules of making and prolonging tokens, over the store that keeps them.
import { fail } from '../api/errors.ts'
import type { Answer, Caller } from '../api/request.ts'
import type { World } from '../lib/world.ts'
import { isBatchText } from './batch-tokens.ts'
import { type CreationForm, type CreationParts, TokenCreation, type TokenRequest } from './token-creation.ts'
import { type TokenEntry, tokenInfo } from './token-entry.ts'
import { ACCESSOR_FOLDER, ROOT_TOKEN_PATH } from './token-keys.ts'
import { TokenRenewal } from './token-renewal.ts'
import type { TokenRoles } from './token-role.ts'
import type { LiveToken, TokenStore } from './token-store.ts'
import type { TokenTidy } from './token-tidy.ts'

const ACCESSOR_PAGE = 500

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

  create(caller: Caller, wanted: TokenRequest, form: CreationForm): Promise<Answer> {
    return this.#creation.create(caller, wanted, form)
  }

  /** @throws Refusal `bad_token` for one that is not live */
  async describe(token: string): Promise<Record<string, unknown>> {
    const found = await this.tokens.find(token)
    if (found === undefined) throw fail('bad_token', [])
    return this.#info(token, found.entry)
  }

  /** @throws Refusal where no live token has it */
  async describeAccessor(accessor: string): Promise<Record<string, unknown>> {
    const { entry } = await this.byAccessor(accessor)
    return this.#info('', entry)
  }

  /** What the caller's own token was when the request was admitted: on its last use nothing is left to look up. */
  describeCaller(caller: Caller): Record<string, unknown> | Promise<Record<string, unknown>> {
    return this.#info(caller.token, caller.entry as TokenEntry)
  }

  #info(shown: string, entry: TokenEntry): Record<string, unknown> | Promise<Record<string, unknown>> {
    const nowMs = this.#world.clock.nowMs()
    if (entry.entityId === '') return tokenInfo(shown, entry, nowMs)
    const subject = this.#parts.identities.subject(entry.entityId)
    if (!(subject instanceof Promise)) return tokenInfo(shown, entry, nowMs, subject?.policies)
    return subject.then((found) => tokenInfo(shown, entry, nowMs, found?.policies))
  }

  /** @throws Refusal where no live token has it */
  async byAccessor(accessor: string): Promise<LiveToken> {
    const found = await this.tokens.findByAccessor(accessor)
    if (found === undefined) throw fail('no_such_token', ['invalid accessor: no token has it'])
    return found
  }

  /** One that is not there is no error. @throws Refusal for a batch token */
  async revoke(token: string): Promise<void> {
    if (isBatchText(token) && (await this.tokens.find(token)) !== undefined) {
      throw fail('token_cannot', ['batch tokens cannot be revoked'])
    }
    await this.tokens.revoke(this.tokens.idOf(token))
  }

  /** Ends the token alone. @throws Refusal where it is none, or a batch token */
  async revokeOrphaning(token: string): Promise<void> {
    const found = await this.tokens.find(token)
    if (found === undefined) throw fail('no_such_token', ['token to revoke not found'])
    if (found.entry.type === 'batch') throw fail('token_cannot', ['batch tokens cannot be revoked'])
    await this.tokens.removal.removeOrphaning(found.id)
  }

  /** In the order of their hashes, behind that of `after`. `limit` 0: all. */
  async accessors(after: string, limit: number): Promise<string[]> {
    const accessors: string[] = []
    for (let last = after === '' ? '' : this.tokens.idOf(after); ; ) {
      const names = await this.tokens.view.list(ACCESSOR_FOLDER, { after: last, limit: ACCESSOR_PAGE })
      for (const name of names) {
        const id = await this.tokens.view.get(ACCESSOR_FOLDER + name)
        const live = id === undefined ? undefined : await this.tokens.findById(id.toString('latin1'))
        if (live !== undefined) accessors.push(live.entry.accessor)
        if (limit > 0 && accessors.length === limit) return accessors
      }
      if (names.length < ACCESSOR_PAGE) return accessors
      last = names.at(-1) ?? ''
      // There may be a million: others have their turn.
      await this.#world.timers.sleep(0)
    }
  }

  /** A root token that never ends, for initialisation and the development server. */
  rootEntry(): TokenEntry {
    return {
      format: 1,
      namespace: 'root',
      accessor: this.tokens.newAccessor(),
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
