// The requests of the client, as the reference's command line sends them: token and namespace in headers, writes are
// PUT, a body without Content-Type.
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { encodePath } from './api-path.ts'
import { RemoteFailure } from './cli-error.ts'
import type { Connection } from './connection.ts'
import { type Json, memberOf, parseExactJson } from './exact-json.ts'
import {
  ANSWER_TOO_LARGE,
  connectionError,
  type Method,
  messagesOf,
  RemoteError,
  staysRefused,
} from './remote-error.ts'

export type ApiRequest = {
  /** To stand behind "Error": `reading transit/keys/x`. */
  readonly doing: string
  readonly method: Method
  /** Clean (api-path.ts), below /v1. */
  readonly path: string
  readonly query?: readonly (readonly [name: string, value: string])[]
  /** JSON text. */
  readonly body?: string
}

/** The body of a successful answer; undefined where it has none. */
export type Answer = { readonly body: Json | undefined }

export type Upload = { readonly bytes: number; readonly stream: AsyncIterable<Buffer> }

/** Longest silence on a connection. */
const IDLE_TIMEOUT_MS = 60_000
/** The same while the server checks or replaces a whole store. */
const STREAM_TIMEOUT_MS = 3_600_000
/** The largest request the server takes by default, twice: no answer to it is larger. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
/** Before the second and the third attempt. */
const RETRY_DELAYS_MS = [1_000, 1_500]
const REDIRECTS = [301, 302, 307, 308]

type Reply = { readonly status: number; readonly location: string | undefined; readonly body: Buffer }

export class Client {
  readonly #connection: Connection
  readonly #sleep: (delayMs: number) => Promise<void>

  constructor(connection: Connection, sleep: (delayMs: number) => Promise<void>) {
    this.#connection = connection
    this.#sleep = sleep
  }

  /** @throws RemoteFailure: RemoteError where the server refuses */
  async send(request: ApiRequest): Promise<Answer> {
    const { status, body } = await this.#attempts(request)
    const parsed = parseExactJson(body.toString('utf8'))
    if (status < 300) {
      if (body.length === 0) return { body: undefined }
      if (parsed === undefined) throw this.#notTheApi(request, status)
      return { body: parsed }
    }
    const messages = messagesOf(parsed)
    // What is gone may still be answered with data or warnings.
    if (status === 404 && messages.length === 0 && (hasMember(parsed, 'data') || hasMember(parsed, 'warnings'))) {
      return { body: parsed }
    }
    throw this.#refusal(request, status, body)
  }

  /**
   * One attempt, whose answer is read by the caller as it comes.
   * @throws RemoteFailure where the server refuses; so does reading where the connection breaks
   */
  async open(request: ApiRequest & { readonly upload?: Upload }): Promise<AsyncIterable<Buffer>> {
    const response = await this.#started(request, request.upload)
    const status = response.statusCode ?? 0
    if (status < 300) return whole(request.doing, response)
    throw this.#refusal(request, status, (await readAll(response)).body)
  }

  #refusal(request: ApiRequest, status: number, body: Buffer): RemoteFailure {
    const parsed = parseExactJson(body.toString('utf8'))
    const messages = messagesOf(parsed)
    if (parsed === undefined && body.length > 0) return this.#notTheApi(request, status)
    return new RemoteError({
      doing: request.doing,
      method: request.method,
      listing: request.query?.some(([name]) => name === 'list') ?? false,
      path: request.path,
      url: this.#url(request.path),
      status,
      messages,
      body: hasMember(parsed, 'data') ? parsed : undefined,
      withToken: this.#connection.token !== undefined,
    })
  }

  /** Like send, but undefined where the server says that there is nothing at the path, and no more than that. */
  async find(request: ApiRequest): Promise<Answer | undefined> {
    try {
      return await this.send(request)
    } catch (error) {
      if (error instanceof RemoteError && error.nothingThere) return undefined
      throw error
    }
  }

  #url(path: string): string {
    return `${this.#connection.address}/v1/${encodePath(path)}`
  }

  #notTheApi({ doing, path }: ApiRequest, status: number): RemoteFailure {
    const what = `Error ${doing}: the answer (code ${status}) is not JSON`
    return new RemoteFailure(
      `${what}\n\nIs ${this.#url(path)} a path of a Keywright server, and not of something else?`,
    )
  }

  async #attempts(request: ApiRequest): Promise<Reply> {
    for (const delayMs of RETRY_DELAYS_MS) {
      const reply = await this.#followed(request)
      if (!isTransient(reply)) return reply
      await this.#sleep(delayMs)
    }
    return await this.#followed(request)
  }

  /** A standby that does not forward names the active node: one redirect is followed, with method, body and token. */
  async #followed(request: ApiRequest): Promise<Reply> {
    const url = this.#urlOf(request)
    const reply = await this.#exchange(request, url)
    if (!REDIRECTS.includes(reply.status) || reply.location === undefined) return reply
    const target = URL.parse(reply.location, url)
    if (target === null || !['http:', 'https:'].includes(target.protocol)) {
      throw new RemoteFailure(`Error ${request.doing}: the server points to an address that is none`)
    }
    if (url.protocol === 'https:' && target.protocol === 'http:') {
      throw new RemoteFailure(
        `Error ${request.doing}: the server points from https to http, which would show the token`,
      )
    }
    return await this.#exchange(request, target)
  }

  async #exchange({ doing, method, body }: ApiRequest, url: URL): Promise<Reply> {
    const length = body === undefined ? undefined : Buffer.byteLength(body)
    try {
      return await exchange(url, this.#options(method, IDLE_TIMEOUT_MS, length), body)
    } catch (error) {
      throw connectionError(doing, url.origin, error)
    }
  }

  async #started(request: ApiRequest, upload: Upload | undefined): Promise<IncomingMessage> {
    const url = this.#urlOf(request)
    try {
      return await start(url, this.#options(request.method, STREAM_TIMEOUT_MS, upload?.bytes), upload)
    } catch (error) {
      throw connectionError(request.doing, url.origin, error)
    }
  }

  #options(method: Method, timeoutMs: number, bodyBytes: number | undefined): RequestOptions {
    const { token, namespace, tls } = this.#connection
    return {
      method,
      agent: false,
      timeout: timeoutMs,
      headers: {
        'X-Vault-Request': 'true',
        ...(token === undefined ? {} : { 'X-Vault-Token': token }),
        ...(namespace === undefined ? {} : { 'X-Vault-Namespace': namespace }),
        ...(bodyBytes === undefined ? {} : { 'Content-Length': bodyBytes }),
      },
      ...tls,
    }
  }

  #urlOf(request: ApiRequest): URL {
    const query = new URLSearchParams(request.query?.map(([name, value]) => [name, value]) ?? []).toString()
    return new URL(this.#url(request.path) + (query === '' ? '' : `?${query}`))
  }
}

function exchange(url: URL, options: RequestOptions, body: string | undefined): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const make = url.protocol === 'https:' ? httpsRequest : httpRequest
    let answered = false
    const request = make(url, options, (response) => {
      answered = true
      readAll(response).then(resolve, reject)
    })
    // A server that refuses early stops reading: what then breaks is the sending, and the answer is what counts.
    request.on('error', (error) => {
      if (!answered) reject(error)
    })
    request.on('timeout', () => {
      request.destroy(Object.assign(new Error('No byte for too long'), { code: 'ETIMEDOUT' }))
    })
    request.end(body)
  })
}

/** Resolves with the head of the answer, though the body of the request may not have been sent to its end. */
function start(url: URL, options: RequestOptions, upload: Upload | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const make = url.protocol === 'https:' ? httpsRequest : httpRequest
    let source: Readable | undefined
    const request = make(url, options, (response) => {
      resolve(response)
      source?.destroy()
    })
    request.on('error', reject)
    request.on('timeout', () => {
      request.destroy(Object.assign(new Error('No byte for too long'), { code: 'ETIMEDOUT' }))
    })
    if (upload === undefined) {
      request.end()
      return
    }
    source = Readable.from(upload.stream)
    source.on('error', (error) => request.destroy(error))
    source.pipe(request)
  })
}

async function* whole(doing: string, response: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* response as AsyncIterable<Buffer>
  } catch (error) {
    throw new RemoteFailure(`Error ${doing}: the connection broke before all was there`, error)
  }
}

async function readAll(response: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw Object.assign(new Error('Answer too large'), { code: ANSWER_TOO_LARGE })
    chunks.push(chunk)
  }
  return { status: response.statusCode ?? 0, location: response.headers.location, body: Buffer.concat(chunks) }
}

/** 412: this node has not caught up; 429: a limit; 5xx: whatever it is, it may pass. 501 says "not initialised". */
function isTransient({ status, body }: Reply): boolean {
  if (status !== 412 && status !== 429 && (status < 500 || status === 501)) return false
  return !staysRefused(status, messagesOf(parseExactJson(body.toString('utf8'))))
}

function hasMember(body: Json | undefined, name: string): boolean {
  return (memberOf(body, name) ?? null) !== null
}
