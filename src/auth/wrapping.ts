// Answers that are kept for whoever holds a token of one use. The token is an ordinary one, with a policy that lets it
// do nothing else; the answer lies in its cubbyhole and goes with it.
import { fail } from '../api/errors.ts'
import type { WrapInfo } from '../api/request.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE } from '../storage/contract.ts'
import { type Cubbyhole, putWith } from './cubbyhole.ts'
import type { TokenEntry } from './token-entry.ts'
import type { LiveToken, TokenStore } from './token-store.ts'
import type { WrappingJwt } from './wrapping-jwt.ts'

const POLICY = 'response-wrapping'
const RESPONSE = 'response'

export type ToWrap = {
  /** JSON text of the whole answer. */
  readonly body: string
  readonly ttlSeconds: number
  readonly creationPath: string
  readonly wrappedAccessor?: string
  readonly form?: WrapForm
}

/** 'jwt': for whoever must learn from the token where it opens. */
export type WrapForm = 'plain' | 'jwt'

export const isWrapping = ({ policies }: TokenEntry): boolean => policies.length === 1 && policies[0] === POLICY

/** It begins with the base64url of '{"': no token that is made here does. */
export const isJwt = (token: string): boolean => token.startsWith('eyJ') && token.includes('.')

type Parts = {
  readonly tokens: TokenStore
  readonly cubbyhole: Cubbyhole
  readonly world: World
  readonly jwt: WrappingJwt
}

export class Wrapping {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async wrap({ body, ttlSeconds, creationPath, wrappedAccessor, form = 'plain' }: ToWrap): Promise<WrapInfo> {
    const { tokens, world, jwt } = this.#parts
    const token = tokens.newToken()
    const shown = form === 'plain' ? token : await jwt.sign({ token, wrappedAccessor, ttlSeconds })
    const nowMs = world.clock.nowMs()
    const entry: TokenEntry = {
      format: 1,
      type: 'service',
      namespace: ROOT_NAMESPACE,
      accessor: tokens.newAccessor(),
      policies: [POLICY],
      path: creationPath,
      displayName: '',
      meta: wrappedAccessor === undefined ? null : { wrapped_accessor: wrappedAccessor },
      parent: '',
      createdAtMs: nowMs,
      creationTtlSeconds: ttlSeconds,
      explicitMaxTtlSeconds: ttlSeconds,
      periodSeconds: 0,
      renewable: false,
      expiry: { atMs: nowMs + ttlSeconds * 1000 },
      lastRenewalAtMs: null,
      numUses: 1,
      entityId: '',
      boundCidrs: [],
      role: '',
      login: null,
    }
    await tokens.view.transaction(async (tx) => {
      if (!(await tokens.insertWith(tx, token, entry))) throw new Error('A new token was not new')
      putWith(tx, tokens.idOf(token), RESPONSE, { response: body })
    })
    return infoOf(shown, entry, wrappedAccessor)
  }

  /** The token, in either form, if it wraps an answer that nobody took. Does not spend it. @throws Refusal */
  async find(token: string | undefined): Promise<LiveToken> {
    const found = token === undefined || token === '' ? undefined : await this.recognise(token)
    if (found === undefined) throw fail('bad_wrapping_token', [])
    return found
  }

  /** The same without a refusal. */
  async recognise(token: string): Promise<LiveToken | undefined> {
    if (!isJwt(token)) return this.#live(token)
    const { jwt } = this.#parts
    const inner = await jwt.open(token, async (plain) => (await this.#live(plain)) !== undefined)
    return inner === undefined ? undefined : this.#live(inner)
  }

  async #live(token: string): Promise<LiveToken | undefined> {
    const found = await this.#parts.tokens.find(token)
    return found !== undefined && isWrapping(found.entry) ? found : undefined
  }

  /** The answer, to one caller only, however many ask at once. @throws Refusal */
  async unwrap(token: string | undefined): Promise<string> {
    const { tokens } = this.#parts
    const found = await this.find(token)
    const taken = await tokens.takeUse(found)
    if (taken === undefined) throw fail('bad_wrapping_token', [])
    const body = await this.#read(found.id)
    await tokens.revoke(found.id)
    return body
  }

  /**
   * The same answer under a new token of the same form, which lives as long as the old one was made for.
   * @throws Refusal
   */
  async rewrap(token: string | undefined): Promise<WrapInfo> {
    const { entry } = await this.find(token)
    const body = await this.unwrap(token)
    const wrappedAccessor = entry.meta?.wrapped_accessor
    const { creationTtlSeconds: ttlSeconds, path: creationPath } = entry
    return this.wrap({
      body,
      ttlSeconds,
      creationPath,
      form: token !== undefined && isJwt(token) ? 'jwt' : 'plain',
      ...(wrappedAccessor === undefined ? {} : { wrappedAccessor }),
    })
  }

  async #read(tokenId: string): Promise<string> {
    const kept = await this.#parts.cubbyhole.read(tokenId, RESPONSE)
    if (typeof kept?.response !== 'string') throw fail('bad_wrapping_token', [])
    return kept.response
  }
}

function infoOf(token: string, entry: TokenEntry, wrappedAccessor: string | undefined): WrapInfo {
  return {
    token,
    accessor: entry.accessor,
    ttl: entry.creationTtlSeconds,
    creation_time: new Date(entry.createdAtMs).toISOString(),
    creation_path: entry.path,
    ...(wrappedAccessor === undefined ? {} : { wrapped_accessor: wrappedAccessor }),
  }
}
