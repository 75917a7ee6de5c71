// The requests of the command line, over the rules that it shares with the library (src/client): what it adds are exact
// numbers, streams, and words for the person who typed the command.
import type { IncomingMessage } from 'node:http'
import type { Method } from '../client/wire.ts'
import { type ApiCall, exchange, type HttpReply, httpRequest, Misdirected, urlOf } from '../client/wire.ts'
import { RemoteFailure } from './cli-error.ts'
import type { Connection } from './connection.ts'
import { exactMember, type Json, parseExactText } from './exact-json.ts'
import { nodeTransport, readReply, startStream, type Upload } from './node-transport.ts'
import { connectionError, messagesOf, RemoteError } from './remote-error.ts'
import { shownRequest } from './shown-request.ts'

export type { Upload } from './node-transport.ts'

export type ApiRequest = ApiCall & {
  /** To stand behind "Error": `reading transit/keys/x`. */
  readonly doing: string
  readonly method: Method
  /** The answer need not be JSON. */
  readonly anything?: boolean
}

export type CommandAnswer = {
  /** Undefined where the answer has none. */
  readonly body: Json | undefined
  /** The same as it came. */
  readonly text: string
}

/** The longest silence while the server checks or replaces a whole store. */
const STREAM_IDLE_MS = 3_600_000

export class Client {
  readonly #connection: Connection
  readonly #sleep: (delayMs: number) => Promise<void>

  constructor(connection: Connection, sleep: (delayMs: number) => Promise<void>) {
    this.#connection = connection
    this.#sleep = sleep
  }

  /** Whose requests these are. */
  get token(): string | undefined {
    return this.#connection.token
  }

  get address(): string {
    return this.#connection.address
  }

  /** The same server, asked in another way. */
  with(changed: Partial<Connection>): Client {
    return new Client({ ...this.#connection, ...changed }, this.#sleep)
  }

  /** @throws RemoteFailure: RemoteError where the server refuses */
  async send(request: ApiRequest): Promise<CommandAnswer> {
    const { status, text } = await this.#exchanged(request)
    const body = parseExactText(text)
    if (status < 300) {
      if (text === '') return { body: undefined, text }
      if (body === undefined && request.anything !== true) throw this.#notTheApi(request, status)
      return { body, text }
    }
    // What is gone may still be answered with data or warnings.
    const isEmpty = messagesOf(body).length === 0
    if (status === 404 && isEmpty && (hasMember(body, 'data') || hasMember(body, 'warnings'))) return { body, text }
    throw this.#refusal(request, status, text)
  }

  /**
   * One attempt, whose answer is read by the caller as it comes.
   * @throws RemoteFailure where the server refuses; so does reading where the connection breaks
   */
  async open(request: ApiRequest & { readonly upload?: Upload }): Promise<AsyncIterable<Buffer>> {
    const response = await this.#started(request, request.upload)
    const status = response.statusCode ?? 0
    if (status < 300) return whole(request.doing, response)
    throw this.#refusal(request, status, (await readReply(response)).text)
  }

  /** Like send, but undefined where the server says that there is nothing at the path, and no more than that. */
  async find(request: ApiRequest): Promise<CommandAnswer | undefined> {
    try {
      return await this.send(request)
    } catch (error) {
      if (error instanceof RemoteError && error.nothingThere) return undefined
      throw error
    }
  }

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
      listing: request.query?.some(([name]) => name === 'list') ?? false,
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
