// The requests of the command line. The rules of HTTP are those of the library (src/client); added here are exact
// numbers, streams, and words for the person who typed the command.
import type { IncomingMessage } from 'node:http'
import type { Method } from '../client/wire.ts'
import { type ApiCall, exchange, type HttpReply, httpRequest, Misdirected, urlOf } from '../client/wire.ts'
import { RemoteFailure } from './cli-error.ts'
import type { Connection } from './connection.ts'
import { exactMember, type Json, parseExactText } from './exact-json.ts'
import { nodeTransport, readReply, startStream, type Upload } from './node-transport.ts'
import { capabilityOf, connectionError, messagesOf, RemoteError } from './remote-error.ts'
import { shownRequest } from './shown-request.ts'

/** A body of a request that is sent as it is read. */
export type { Upload } from './node-transport.ts'

/** A request with what its error messages need. */
export type ApiRequest = ApiCall & {
  /** Follows "Error" in messages: `reading transit/keys/x`. */
  readonly doing: string
  readonly method: Method
  /** Accepts an answer that is not JSON, as metrics in text are. */
  readonly anything?: boolean
}

/** The answer to a request that succeeded. */
export type CommandAnswer = {
  /** The parsed body; undefined if the answer has none, or none in JSON. */
  readonly body: Json | undefined
  /** The body as it came. */
  readonly text: string
}

/** An hour: the longest silence while the server checks or replaces a whole store. */
const STREAM_IDLE_MS = 3_600_000

/** Sends requests to one server with one token. It holds no connection: every attempt opens its own. */
export class Client {
  readonly #connection: Connection
  readonly #sleep: (delayMs: number) => Promise<void>

  constructor(connection: Connection, sleep: (delayMs: number) => Promise<void>) {
    this.#connection = connection
    this.#sleep = sleep
  }

  /** The token that requests carry; undefined without one. */
  get token(): string | undefined {
    return this.#connection.token
  }

  /** The address of the server, without a slash at the end. */
  get address(): string {
    return this.#connection.address
  }

  /** The longest silence that requests wait for. */
  get timeoutMs(): number {
    return this.#connection.timeoutMs
  }

  /** Returns a client for the same server with some settings changed. */
  with(changed: Partial<Connection>): Client {
    return new Client({ ...this.#connection, ...changed }, this.#sleep)
  }

  /**
   * Sends a request, and again while the refusal may pass (src/client/wire.ts).
   * @throws RemoteError if the server refuses; RemoteFailure if it cannot be reached, or does not answer as this API
   */
  async send(request: ApiRequest): Promise<CommandAnswer> {
    const { status, text } = await this.#exchanged(request)
    const body = parseExactText(text)
    if (status < 300) {
      if (text === '') return { body: undefined, text }
      if (body === undefined && request.anything !== true) throw this.#notTheApi(request, status)
      return { body, text }
    }
    // A 404 with data or warnings is an answer too, and not a refusal.
    const isEmpty = messagesOf(body).length === 0
    if (status === 404 && isEmpty && (hasMember(body, 'data') || hasMember(body, 'warnings'))) return { body, text }
    throw this.#refusal(request, status, text)
  }

  /**
   * Starts one attempt, whose answer the caller reads as it comes. It is not repeated: an upload can be read only once.
   * @throws RemoteFailure if the server refuses; reading the result throws it too if the connection breaks
   */
  async open(request: ApiRequest & { readonly upload?: Upload }): Promise<AsyncIterable<Buffer>> {
    const response = await this.#started(request, request.upload)
    const status = response.statusCode ?? 0
    if (status < 300) return whole(request.doing, response)
    throw this.#refusal(request, status, (await readReply(response)).text)
  }

  /** Like send, but returns undefined if the server says that nothing is at the path, and no more than that. */
  async find(request: ApiRequest): Promise<CommandAnswer | undefined> {
    try {
      return await this.send(request)
    } catch (error) {
      if (error instanceof RemoteError && error.nothingThere) return undefined
      throw error
    }
  }

  /** Ends the command with the request itself where -output-curl-string or -output-policy asks for that. */
  async #exchanged(request: ApiRequest): Promise<HttpReply> {
    const { tls, timeoutMs, retries, followsRedirects, shows, addressOrigin } = this.#connection
    if (shows !== undefined) throw shownRequest(shows, this.#connection, request)
    const retrying = { retries, pause: this.#sleep, followsRedirects }
    const transport = nodeTransport({ tls, idleMs: timeoutMs })
    try {
      return await exchange(transport, httpRequest(this.#connection, request), retrying)
    } catch (error) {
      if (error instanceof Misdirected) throw new RemoteFailure(`Error ${request.doing}: ${error.message}`, error)
      throw connectionError(request.doing, new URL(this.#connection.address).origin, addressOrigin, error)
    }
  }

  /** Follows no redirect: the body would have to be sent again. */
  async #started(request: ApiRequest, upload: Upload | undefined): Promise<IncomingMessage> {
    const { tls, shows, address, addressOrigin } = this.#connection
    if (shows !== undefined) throw shownRequest(shows, this.#connection, request)
    try {
      return await startStream(httpRequest(this.#connection, request), { tls, idleMs: STREAM_IDLE_MS }, upload)
    } catch (error) {
      throw connectionError(request.doing, new URL(address).origin, addressOrigin, error)
    }
  }

  #refusal(request: ApiRequest, status: number, text: string): RemoteFailure {
    const parsed = parseExactText(text)
    if (parsed === undefined && text !== '') return this.#notTheApi(request, status)
    return new RemoteError({
      doing: request.doing,
      method: request.method,
      capability: capabilityOf(request),
      path: request.path,
      url: urlOf(this.#connection, request.path),
      status,
      messages: messagesOf(parsed),
      body: hasMember(parsed, 'data') ? parsed : undefined,
      withToken: this.#connection.token !== undefined,
    })
  }

  #notTheApi({ doing, path }: ApiRequest, status: number): RemoteFailure {
    const what = `Error ${doing}: the answer (code ${status}) is not JSON`
    const url = urlOf(this.#connection, path)
    return new RemoteFailure(`${what}\n\nIs ${url} a path of a Keywright server, and not of something else?`)
  }
}

/** Passes the body on. A connection that breaks must not look like the end of the file. */
async function* whole(doing: string, response: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* response as AsyncIterable<Buffer>
  } catch (error) {
    throw new RemoteFailure(`Error ${doing}: the connection broke before all was there`, error)
  }
}

function hasMember(body: Json | undefined, name: string): boolean {
  return (exactMember(body, name) ?? null) !== null
}
