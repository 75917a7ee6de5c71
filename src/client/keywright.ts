// The client for TypeScript. Paths, fields and answers are typed from the same table that the server is made of:
//
//   const kw = new Keywright({ address: 'https://kms.example:8200', token })
//   const { ciphertext } = await kw.write('transit/encrypt/:name', { name: 'payments', plaintext: 'aGVsbG8=' })
//
// It needs nothing but `fetch`.

import type { Mount } from './endpoints.ts'
import { answerWarnings, type Envelope, isAnswerEnvelope, resultOf } from './envelope.ts'
import { memberOf, messagesOf, parseAnswerBody } from './error-messages.ts'
import { ApiError, type Asked, ConnectionError } from './errors.ts'
import { type Fetch, fetchTransport, pause, TimedOut } from './fetch-transport.ts'
import { fillPath, movePath } from './path.ts'
import type { Arguments, FieldsOf, Given, PathOf, ResultOf } from './typed-calls.ts'
import { type ApiAddress, type ApiCall, exchange, httpRequest, type Method, Misdirected, urlOf } from './wire.ts'

export type { Auth, Endpoints, Mount } from './endpoints.ts'
export type { Envelope, WrapInfo } from './envelope.ts'
export { ApiError, type Asked, ConnectionError, KeywrightError } from './errors.ts'

export type ClientSettings = {
  /** Scheme, host and port, like `https://kms.example:8200`. */
  readonly address: string
  /** Or what gives it, asked before every request: a token that is renewed elsewhere stays fresh. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  readonly namespace?: string | undefined
  /** Engines that are mounted elsewhere than usual: `{ transit: 'team/kms' }`. */
  readonly mounts?: { readonly [M in Mount]?: string }
  /** Of one attempt; 60 s by default. */
  readonly timeoutMs?: number
  /** Further attempts after 412, 429 and 5xx but 501, a second or more apart; 2 by default. */
  readonly retries?: number
  /** Gets what the server warns of. */
  readonly onWarning?: (warning: string, request: Asked) => void
  /** Instead of the global one: for proxies, own certificates, tests. */
  readonly fetch?: Fetch
}

export type CallOptions = { readonly signal?: AbortSignal }

const TIMEOUT_MS = 60_000
const RETRIES = 2

/** A client for one server and one token. It keeps no connection and no state: `with` gives another beside it. */
export class Keywright<Wrapped extends boolean = false> {
  readonly #settings: ClientSettings
  readonly #wrapTtl: string | undefined

  /** `wrapTtl` is for `wrapping`. @throws TypeError where the address is none */
  constructor(settings: ClientSettings, wrapTtl?: string) {
    this.#settings = { ...settings, address: cleanAddress(settings.address) }
    this.#wrapTtl = wrapTtl
  }

  /** The same client, with some settings changed. */
  with(changed: Partial<ClientSettings>): Keywright<Wrapped> {
    return new Keywright({ ...this.#settings, ...changed }, this.#wrapTtl)
  }

  /** The same client, whose answers come wrapped: each call resolves to the token that the answer is under. */
  wrapping(ttl: string | number): Keywright<true> {
    return new Keywright<true>(this.#settings, String(ttl))
  }

  /** @throws ApiError (404 where there is nothing), ConnectionError */
  async read<P extends PathOf<'GET'>>(path: P, ...[fields, options]: Arguments<FieldsOf<'GET', P>, CallOptions>) {
    return (await this.#call('GET', path, fields, options)) as Given<Wrapped, ResultOf<'GET', P>>
  }

  /** Like read, but undefined where there is nothing. */
  async find<P extends PathOf<'GET'>>(path: P, ...[fields, options]: Arguments<FieldsOf<'GET', P>, CallOptions>) {
    const found = await orNothing(this.#call('GET', path, fields, options))
    return found as Given<Wrapped, ResultOf<'GET', P>> | undefined
  }

  /** Where there is nothing, `keys` is empty. @throws ApiError, ConnectionError */
  async list<P extends PathOf<'LIST'>>(path: P, ...[fields, options]: Arguments<FieldsOf<'LIST', P>, CallOptions>) {
    const found = await orNothing(this.#call('GET', path, { ...fields, list: true }, options))
    return (found ?? { keys: [] }) as Given<Wrapped, ResultOf<'LIST', P>>
  }

  /** Creates, changes, or has the path do its work. @throws ApiError, ConnectionError */
  async write<P extends PathOf<'POST'>>(path: P, ...[fields, options]: Arguments<FieldsOf<'POST', P>, CallOptions>) {
    return (await this.#call('POST', path, fields, options)) as Given<Wrapped, ResultOf<'POST', P>>
  }

  /** It is no error where there is nothing. @throws ApiError, ConnectionError */
  async delete<P extends PathOf<'DELETE'>>(
    path: P,
    ...[fields, options]: Arguments<FieldsOf<'DELETE', P>, CallOptions>
  ) {
    return (await this.#call('DELETE', path, fields, options)) as Given<Wrapped, ResultOf<'DELETE', P>>
  }

  /** The answer that was wrapped under this token, in its envelope; that spends the token. */
  async unwrap<Data = unknown>(wrappingToken: string, options?: CallOptions): Promise<Envelope<Data>> {
    const own = new Keywright({ ...this.#settings, token: wrappingToken })
    return (await own.send('POST', 'sys/wrapping/unwrap', undefined, options)) as Envelope<Data>
  }

  /**
   * Any path, for what the table of endpoints does not have: the whole body of the answer, undefined where it has none.
   * The fields go into the body, but for GET and DELETE, whose fields go into the query.
   * @throws ApiError, ConnectionError, or the reason of the signal
   */
  async send(
    method: Method,
    path: string,
    fields?: Readonly<Record<string, unknown>>,
    { signal }: CallOptions = {},
  ): Promise<Envelope | unknown> {
    const place = await this.#place()
    const call = callOf(method, path, fields)
    const asked: Asked = { method, path, url: urlOf(place, path) }
    const { status, text } = await this.#exchanged(place, call, asked, signal)
    const body = parseAnswerBody(text)
    if (text !== '' && body === undefined) {
      throw new ConnectionError(asked, `the answer (code ${status}) is not JSON: is this the address of the server?`)
    }
    const data = memberOf(body, 'data') ?? undefined
    const messages = messagesOf(body)
    // What is gone may still be answered with data.
    if (status >= 300 && !(status === 404 && messages.length === 0 && data !== undefined)) {
      throw new ApiError(asked, status, messages, data ?? plainData(body))
    }
    for (const warning of answerWarnings(body)) this.#settings.onWarning?.(warning, asked)
    return body
  }

  async #call(
    method: Method,
    pattern: string,
    fields: Readonly<Record<string, unknown>> = {},
    options?: CallOptions,
  ): Promise<unknown> {
    const { path, rest } = fillPath(movePath(pattern, this.#settings.mounts ?? {}), fields)
    return resultOf(await this.send(method, path, rest, options))
  }

  async #place(): Promise<ApiAddress> {
    const { address, token, namespace } = this.#settings
    return {
      address,
      token: typeof token === 'function' ? await token() : token,
      namespace,
      wrapTtl: this.#wrapTtl,
    }
  }

  async #exchanged(place: ApiAddress, call: ApiCall, asked: Asked, signal: AbortSignal | undefined) {
    const { fetch: fetcher = fetch, timeoutMs = TIMEOUT_MS, retries = RETRIES } = this.#settings
    const transport = fetchTransport(fetcher, { timeoutMs, signal })
    const retrying = { retries, pause: (delayMs: number) => pause(delayMs, signal) }
    try {
      return await exchange(transport, httpRequest(place, call), retrying)
    } catch (cause) {
      if (signal?.aborted === true) throw signal.reason
      const why = cause instanceof Misdirected || cause instanceof TimedOut ? cause.message : 'no answer came'
      throw new ConnectionError(asked, why, cause, cause instanceof TimedOut)
    }
  }
}

/** What a plain answer says although its status is an error, as that of the health of a sealed server. */
function plainData(body: unknown): unknown {
  return isAnswerEnvelope(body) || memberOf(body, 'errors') !== undefined ? undefined : body
}

function callOf(method: Method, path: string, fields: Readonly<Record<string, unknown>> | undefined): ApiCall {
  if (method === 'GET' || method === 'DELETE') return { method, path, query: queryOf(fields ?? {}) }
  const isEmpty = fields === undefined || Object.keys(fields).length === 0
  return { method, path, body: isEmpty ? undefined : JSON.stringify(fields) }
}

/** A list becomes the same name several times. */
function queryOf(fields: Readonly<Record<string, unknown>>): (readonly [string, string])[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined || value === null) return []
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    return values.map((each) => [name, typeof each === 'object' ? JSON.stringify(each) : String(each)] as const)
  })
}

async function orNothing(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && error.nothingThere) return undefined
    throw error
  }
}

function cleanAddress(text: string): string {
  const url = new URL(text)
  if (!['http:', 'https:'].includes(url.protocol))
    throw new TypeError('The address must begin with http:// or https://')
  const address = url.origin + url.pathname
  return address.endsWith('/') ? address.slice(0, -1) : address
}
