// The client for TypeScript (docs/client.md). Paths, fields and answers are typed from the tables that the server is
// made of:
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

/** The types that callers see in signatures. */
export type { Auth, Endpoints, Mount } from './endpoints.ts'
/** The forms of answers. */
export type { Envelope, WrapInfo } from './envelope.ts'
/** The errors to catch. */
export { ApiError, type Asked, ConnectionError, KeywrightError } from './errors.ts'

/** Settings of a client. */
export type ClientSettings = {
  /** Scheme, host and port, like `https://kms.example:8200`. */
  readonly address: string
  /** The token, or a function that is called before every request: a token that is renewed elsewhere stays fresh. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /** The namespace of the paths, from the root on: `team/a`. Without it they are those of the root. */
  readonly namespace?: string | undefined
  /** Mount paths of engines that are not at their usual place: `{ transit: 'team/kms' }`. */
  readonly mounts?: { readonly [M in Mount]?: string }
  /** Longest time of one attempt; 60 s by default. */
  readonly timeoutMs?: number
  /** Further attempts after 412, 429 and 5xx but 501, a second or more apart; 2 by default. */
  readonly retries?: number
  /** Called with each warning of an answer. */
  readonly onWarning?: (warning: string, request: Asked) => void
  /** Replaces the global `fetch`: for proxies, own certificates, tests. */
  readonly fetch?: Fetch
}

/** Options of one call. */
export type CallOptions = { readonly signal?: AbortSignal }

// The defaults of the command line (src/cli/common-options.ts), and of the reference's clients.
const TIMEOUT_MS = 60_000
const RETRIES = 2

/** A client for one server and one token. It is immutable and keeps no connection: `with` makes another beside it. */
export class Keywright<Wrapped extends boolean = false> {
  readonly #settings: ClientSettings
  readonly #wrapTtl: string | undefined

  /** `wrapTtl` is for `wrapping` alone. @throws TypeError if the address is no URL of http or https */
  constructor(settings: ClientSettings, wrapTtl?: string) {
    this.#settings = { ...settings, address: cleanAddress(settings.address) }
    this.#wrapTtl = wrapTtl
  }

  /** Returns a client with some settings changed. */
  with(changed: Partial<ClientSettings>): Keywright<Wrapped> {
    return new Keywright({ ...this.#settings, ...changed }, this.#wrapTtl)
  }

  /** Returns a client for a namespace below the one of this client: `kw.in('team').in('a')` asks in `team/a`. */
  in(namespace: string): Keywright<Wrapped> {
    const names = [this.#settings.namespace ?? '', namespace].flatMap((path) => path.split('/'))
    return this.with({ namespace: names.filter((name) => name !== '').join('/') })
  }

  /**
   * Returns a client whose answers come wrapped: each call resolves to the token that stands for the answer. `ttl` is
   * the lifetime of that token, in seconds or as `5m`.
   */
  wrapping(ttl: string | number): Keywright<true> {
    return new Keywright<true>(this.#settings, String(ttl))
  }

  /** Reads a path. @throws ApiError, with 404 if nothing is there; ConnectionError */
  async read<P extends PathOf<'GET'>>(path: P, ...[fields, options]: Arguments<FieldsOf<'GET', P>, CallOptions>) {
    return (await this.#call('GET', path, fields, options)) as Given<Wrapped, ResultOf<'GET', P>>
  }

  /** Like read, but resolves to undefined if nothing is there. */
  async find<P extends PathOf<'GET'>>(path: P, ...[fields, options]: Arguments<FieldsOf<'GET', P>, CallOptions>) {
    const found = await orNothing(this.#call('GET', path, fields, options))
    return found as Given<Wrapped, ResultOf<'GET', P>> | undefined
  }

  /** Lists the names below a path. If nothing is there, `keys` is empty. @throws ApiError, ConnectionError */
  async list<P extends PathOf<'LIST'>>(path: P, ...[fields, options]: Arguments<FieldsOf<'LIST', P>, CallOptions>) {
    return (await this.#names('list', path, fields, options)) as Given<Wrapped, ResultOf<'LIST', P>>
  }

  /** Like list, with the names on all levels below. @throws ApiError, ConnectionError */
  async scan<P extends PathOf<'SCAN'>>(path: P, ...[fields, options]: Arguments<FieldsOf<'SCAN', P>, CallOptions>) {
    return (await this.#names('scan', path, fields, options)) as Given<Wrapped, ResultOf<'SCAN', P>>
  }

  /** Creates or changes what is at a path, or has the path do its work. @throws ApiError, ConnectionError */
  async write<P extends PathOf<'POST'>>(path: P, ...[fields, options]: Arguments<FieldsOf<'POST', P>, CallOptions>) {
    return (await this.#call('POST', path, fields, options)) as Given<Wrapped, ResultOf<'POST', P>>
  }

  /** Changes parts of what is at a path: other fields stay, null removes. @throws ApiError, ConnectionError */
  async patch<P extends PathOf<'PATCH'>>(path: P, ...[fields, options]: Arguments<FieldsOf<'PATCH', P>, CallOptions>) {
    return (await this.#call('PATCH', path, fields, options)) as Given<Wrapped, ResultOf<'PATCH', P>>
  }

  /** Deletes what is at a path. It is no error if nothing is there. @throws ApiError, ConnectionError */
  async delete<P extends PathOf<'DELETE'>>(
    path: P,
    ...[fields, options]: Arguments<FieldsOf<'DELETE', P>, CallOptions>
  ) {
    return (await this.#call('DELETE', path, fields, options)) as Given<Wrapped, ResultOf<'DELETE', P>>
  }

  /** Resolves to a wrapped answer, in its envelope. That spends the token. @throws ApiError, ConnectionError */
  async unwrap<Data = unknown>(wrappingToken: string, options?: CallOptions): Promise<Envelope<Data>> {
    const own = new Keywright({ ...this.#settings, token: wrappingToken })
    return (await own.send('POST', 'sys/wrapping/unwrap', undefined, options)) as Envelope<Data>
  }

  /**
   * Sends a request to any path, for endpoints that the table does not have. Resolves to the whole body of the answer;
   * undefined if it has none. Fields go into the body, and those of GET and DELETE into the query.
   * @throws ApiError, ConnectionError, or the reason of the signal
   */
  async send(
    method: Method,
    path: string,
    fields?: Readonly<Record<string, unknown>>,
    { signal }: CallOptions = {},
  ): Promise<Envelope | unknown> {
    const server = await this.#server()
    const call = callOf(method, path, fields)
    const asked: Asked = { method, path, url: urlOf(server, path) }
    const { status, text } = await this.#exchanged(server, call, asked, signal)
    const body = parseAnswerBody(text)
    if (text !== '' && body === undefined) {
      throw new ConnectionError(asked, `the answer (code ${status}) is not JSON: is this the address of the server?`)
    }
    const data = memberOf(body, 'data') ?? undefined
    const messages = messagesOf(body)
    // A 404 with data and no message is an answer, as that of a list may be.
    if (status >= 300 && !(status === 404 && messages.length === 0 && data !== undefined)) {
      throw new ApiError(asked, status, messages, data ?? plainData(body))
    }
    for (const warning of answerWarnings(body)) this.#settings.onWarning?.(warning, asked)
    return body
  }

  /** Asks with GET: the methods LIST and SCAN mean the same, and proxies may refuse them. */
  async #names(
    wanted: 'list' | 'scan',
    pattern: string,
    fields: Readonly<Record<string, unknown>> | undefined,
    options?: CallOptions,
  ): Promise<unknown> {
    return (await orNothing(this.#call('GET', pattern, { ...fields, [wanted]: true }, options))) ?? { keys: [] }
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

  /** Asks for the token, which may have changed since the last request. */
  async #server(): Promise<ApiAddress> {
    const { address, token, namespace } = this.#settings
    return {
      address,
      token: typeof token === 'function' ? await token() : token,
      namespace,
      wrapTtl: this.#wrapTtl,
    }
  }

  async #exchanged(server: ApiAddress, call: ApiCall, asked: Asked, signal: AbortSignal | undefined) {
    const { fetch: fetcher = fetch, timeoutMs = TIMEOUT_MS, retries = RETRIES } = this.#settings
    const transport = fetchTransport(fetcher, { timeoutMs, signal })
    const retrying = { retries, pause: (delayMs: number) => pause(delayMs, signal) }
    try {
      return await exchange(transport, httpRequest(server, call), retrying)
    } catch (cause) {
      // The caller gets its own reason back, and no error of ours around it.
      if (signal?.aborted === true) throw signal.reason
      const why = cause instanceof Misdirected || cause instanceof TimedOut ? cause.message : 'no answer came'
      throw new ConnectionError(asked, why, cause, cause instanceof TimedOut)
    }
  }
}

/** Returns the body of a plain answer with an error status: sys/health says 503 for a sealed server, and how it is. */
function plainData(body: unknown): unknown {
  return isAnswerEnvelope(body) || memberOf(body, 'errors') !== undefined ? undefined : body
}

function callOf(method: Method, path: string, fields: Readonly<Record<string, unknown>> | undefined): ApiCall {
  if (method === 'GET' || method === 'DELETE') return { method, path, query: queryOf(fields ?? {}) }
  const isEmpty = fields === undefined || Object.keys(fields).length === 0
  return { method, path, body: isEmpty ? undefined : JSON.stringify(fields) }
}

/** Returns fields as a query. A list repeats its name; missing fields are left out. */
function queryOf(fields: Readonly<Record<string, unknown>>): (readonly [string, string])[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined || value === null) return []
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    return values.map((each) => [name, typeof each === 'object' ? JSON.stringify(each) : String(each)] as const)
  })
}

/** Turns a bare 404 into undefined; every other error stays. */
async function orNothing(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && error.nothingThere) return undefined
    throw error
  }
}

/** Returns the address without query and without a slash at the end. @throws TypeError */
function cleanAddress(text: string): string {
  const url = new URL(text)
  if (!['http:', 'https:'].includes(url.protocol))
    throw new TypeError('The address must begin with http:// or https://')
  const address = url.origin + url.pathname
  return address.endsWith('/') ? address.slice(0, -1) : address
}
