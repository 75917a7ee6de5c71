// Wrapped answers, kept for the holder of a token of one use. The token is an ordinary one, with a policy that permits
// nothing else. The answer lies in its cubbyhole and goes with it (threats P-32).
import { fail } from '../api/errors.ts'
import type { WrapInfo } from '../api/request.ts'
import type { World } from '../lib/world.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import { encode, ownCubbyhole, putWith, readWith } from './cubbyhole.ts'
import { DEFAULT_KEPT_LIMITS, type KeptAnswer, type KeptLimits, type KeptValues, type WrapForm } from './kept-values.ts'
import type { TokenEntry } from './token-entry.ts'
import type { LiveToken, TokenStore } from './token-store.ts'
import type { WrappingJwt } from './wrapping-jwt.ts'

const POLICY = 'response-wrapping'
const RESPONSE = 'response'

/** An answer to wrap, as the pipeline hands it over. */
export type ToWrap = {
  /** JSON text of the whole answer. */
  readonly body: string
  readonly ttlSeconds: number
  /** Id of the namespace of the request, which the token is of. */
  readonly namespaceId: string
  /** Within that namespace. */
  readonly creationPath: string
  /** UUID of the mount that gives the answer; undefined: one that every server has. */
  readonly mountUuid: string | undefined
  readonly wrappedAccessor?: string
  readonly form?: WrapForm
}

/** True if the token is a wrapping token, which has exactly this policy. No request can ask for it. */
export const isWrapping = ({ policies }: TokenEntry): boolean => policies.length === 1 && policies[0] === POLICY

/** True if the text looks like a JWT: it begins with the base64url of `{"`, which no other token made here does. */
export const isJwt = (token: string): boolean => token.startsWith('eyJ') && token.includes('.')

/** A wrapping token that is not stored yet. */
type Made = { readonly token: string; readonly entry: TokenEntry; readonly info: WrapInfo }

type Parts = {
  readonly tokens: TokenStore
  readonly world: World
  readonly jwt: WrappingJwt
  /** The longest TTL of the system, which bounds wrapping tokens too. */
  readonly longestTtlSeconds: number
  readonly limits?: KeptLimits
  /** Hands answers to the writing thread; given on threads that cannot write. */
  readonly elsewhere?: Pick<KeptValues, 'keepAnswer'> | undefined
}

/** Wraps, unwraps and rewraps answers. */
export class Wrapping {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Wraps an answer, wherever this thread has to write it, and returns what the client is told of the token.
   * @throws Refusal if the answer is too large.
   */
  async wrap({ body, ...asked }: ToWrap): Promise<WrapInfo> {
    const { elsewhere, limits = DEFAULT_KEPT_LIMITS } = this.#parts
    if (Buffer.byteLength(body) > limits.entryBytes) throw fail('value_too_large', [limits.entryBytes])
    const answer = { ...asked, value: encode({ response: body }) }
    return elsewhere === undefined ? this.keepAnswer(answer) : elsewhere.keepAnswer(answer)
  }

  /** Stores an encoded answer under a new token; runs on the writing thread. */
  async keepAnswer({ value, ...asked }: KeptAnswer): Promise<WrapInfo> {
    const made = await this.#make(asked)
    await this.#parts.tokens.transactionIn(asked.namespaceId, (tx) => this.#putWith(tx, made, value))
    return made.info
  }

  /**
   * Makes a token without storing it. Its TTL is capped at the longest of the system, and the client is told the capped
   * one.
   */
  async #make({ wrappedAccessor, form = 'plain', ...asked }: Omit<ToWrap, 'body'>): Promise<Made> {
    const { tokens, world, jwt, longestTtlSeconds } = this.#parts
    const { namespaceId, creationPath, mountUuid } = asked
    const ttlSeconds = Math.min(asked.ttlSeconds, longestTtlSeconds)
    const token = tokens.newToken(namespaceId)
    const shown = form === 'plain' ? token : await jwt.sign({ token, wrappedAccessor, ttlSeconds })
    const nowMs = world.clock.nowMs()
    const entry: TokenEntry = {
      format: 1,
      type: 'service',
      namespace: namespaceId,
      accessor: tokens.newAccessor(namespaceId),
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
      ...(mountUuid === undefined ? {} : { answerOf: mountUuid }),
    }
    return { token, entry, info: infoOf(shown, entry, wrappedAccessor) }
  }

  async #putWith(tx: ViewTransaction, { token, entry }: Made, value: Uint8Array): Promise<void> {
    const { tokens } = this.#parts
    if (!(await tokens.insertWith(tx, token, entry))) throw new Error('A new token was not new')
    putWith(tx, ownCubbyhole(tokens.idOf(token)), RESPONSE, value)
  }

  /**
   * Returns the token, in either form, if it wraps an answer that was not taken yet; does not spend it.
   * @throws Refusal otherwise.
   */
  async find(token: string | undefined): Promise<LiveToken> {
    const found = token === undefined || token === '' ? undefined : await this.recognise(token)
    if (found === undefined) throw fail('bad_wrapping_token', [])
    return found
  }

  /** Like `find`, but returns undefined instead of throwing. */
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

  /**
   * Takes the answer out. However many ask at once, one gets it (threats T-21, P-32).
   * @throws Refusal to all others.
   */
  async unwrap(token: string | undefined): Promise<string> {
    const found = await this.find(token)
    return this.#parts.tokens.view.transaction((tx) => this.#takeWith(tx, found))
  }

  /**
   * Moves the answer to a new token of the same form and namespace. It gets the TTL that the old one was made with, or
   * `ttlSeconds`. One transaction does both, since between two the answer could be lost.
   * @throws Refusal if the token wraps no answer.
   */
  async rewrap(token: string | undefined, ttlSeconds?: number): Promise<WrapInfo> {
    const found = await this.find(token)
    const { meta, creationTtlSeconds, namespace: namespaceId, path: creationPath, answerOf } = found.entry
    const wrappedAccessor = meta?.wrapped_accessor
    const made = await this.#make({
      ttlSeconds: ttlSeconds ?? creationTtlSeconds,
      namespaceId,
      creationPath,
      mountUuid: answerOf,
      form: token !== undefined && isJwt(token) ? 'jwt' : 'plain',
      ...(wrappedAccessor === undefined ? {} : { wrappedAccessor }),
    })
    await this.#parts.tokens.transactionIn(namespaceId, async (tx) => {
      const response = await this.#takeWith(tx, found)
      await this.#putWith(tx, made, encode({ response }))
    })
    return made.info
  }

  /** Takes the answer and removes its token, in the transaction. @throws Refusal if another request was faster. */
  async #takeWith(tx: ViewTransaction, { id }: LiveToken): Promise<string> {
    const { tokens } = this.#parts
    const entry = await tokens.readUsable(tx, id)
    const kept = entry === undefined ? undefined : await readWith(tx, ownCubbyhole(id), RESPONSE)
    if (typeof kept?.response !== 'string') throw fail('bad_wrapping_token', [])
    await tokens.removal.remove(tx, id)
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
