// The socket side: node:http behind one boundary, so that it can be replaced. Reads a request within its limits, hands
// plain data to the core, writes what comes back.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { fail, type Refusal } from '../api/errors.ts'
import type { ByteStream } from '../api/request.ts'
import type { WireRequest, WireResponse } from '../core/exchange.ts'
import { refusalResponse } from '../core/response.ts'
import { wireHeaders } from './headers.ts'
import { closeWith, type ParserError, ParserErrors } from './parser-error.ts'
import { RequestStream, StreamTimes, sendStream } from './streams.ts'
import { type Turn, Turns } from './turns.ts'

export type ListenerLimits = {
  readonly maxRequestBytes: number
  readonly readHeaderTimeoutMs: number
  readonly readTimeoutMs: number
  readonly idleTimeoutMs: number
}

export const DEFAULT_LIMITS: ListenerLimits = {
  maxRequestBytes: 33_554_432,
  readHeaderTimeoutMs: 10_000,
  readTimeoutMs: 30_000,
  idleTimeoutMs: 300_000,
}

const CHECK_INTERVAL_MS = 1_000
const MAX_CONNECTIONS = 10_000
const MAX_HEADERS = 200

export type Handle = (request: WireRequest) => Promise<WireResponse>
/** What answers. `takesStream` says that the body of a request is handed on as it comes, with no limit to its size. */
export type Service = {
  readonly handle: Handle
  readonly takesStream: (method: string, rawPath: string) => boolean
  /** Names in lower case of the request headers that are recorded. */
  readonly auditedHeaders?: () => readonly string[]
}
export type Listener = {
  readonly port: number
  /** Takes no new connection; resolves when every running request is answered. */
  close(): Promise<void>
  /** Ends the connections that `close` waits for. */
  dropConnections(): void
}

/** `share`: other threads of this process listen on the same port, and the system spreads the connections. */
export type ListenAddress = { readonly host: string; readonly port: number; readonly share: boolean }

/** @throws the system's error where the address cannot be used (EADDRINUSE, EACCES, …) */
export async function listen(address: ListenAddress, limits: ListenerLimits, service: Service): Promise<Listener> {
  const server = createServer({
    // node:http refuses a head that may take longer than the whole request.
    headersTimeout: Math.min(limits.readHeaderTimeoutMs, limits.readTimeoutMs),
    requestTimeout: limits.readTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    requireHostHeader: false,
    noDelay: true,
  })
  server.maxConnections = MAX_CONNECTIONS
  server.maxHeadersCount = MAX_HEADERS
  const connections = {
    turns: new Turns(),
    ...service,
    times: new StreamTimes(server, limits.readTimeoutMs),
    maxRequestBytes: limits.maxRequestBytes,
    isOpen: () => server.listening,
  }
  const parserErrors = new ParserErrors(connections.turns, service)
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => serve(incoming, outgoing, connections))
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    // A body that is too large is not asked for.
    const isStream = connections.takesStream(incoming.method ?? '', pathOf(incoming))
    if (isStream || !isTooLarge(incoming, connections.maxRequestBytes)) outgoing.writeContinue()
    serve(incoming, outgoing, connections)
  })
  server.on('checkExpectation', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    refuse({ incoming, outgoing }, fail('expectation_failed', []))
  })
  server.on('connect', (_incoming: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    closeWith(socket, refusalResponse(fail('method_not_allowed', [])))
  })
  server.on('clientError', (cause: ParserError, socket: Socket) => {
    parserErrors.answer(cause, socket).catch(() => socket.destroy())
  })
  await started(server, address)
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    close: () => stopped(server),
    dropConnections: () => server.closeAllConnections(),
  }
}

function started(server: Server, { host, port, share }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, reusePort: share }, () => {
      server.off('error', reject)
      // An error on the listening socket later on ends no request; there is nobody to tell but the log of the system.
      server.on('error', () => {})
      resolve()
    })
  })
}

/** Takes no new connection, lets running requests finish, closes idle connections. */
function stopped(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}

/** What all connections of the listener have in common. */
type Connections = {
  readonly turns: Turns
  readonly handle: Handle
  readonly takesStream: Service['takesStream']
  readonly auditedHeaders?: Service['auditedHeaders']
  readonly times: StreamTimes
  readonly maxRequestBytes: number
  /** Whether further requests are taken; else each connection ends with its answer. */
  readonly isOpen: () => boolean
}

function isTooLarge(incoming: IncomingMessage, maxBytes: number): boolean {
  const declared = incoming.headers['content-length']
  return declared !== undefined && Number(declared) > maxBytes
}

function serve(incoming: IncomingMessage, outgoing: ServerResponse, connections: Connections): void {
  const { maxRequestBytes } = connections
  const turn = connections.turns.take(incoming, outgoing)
  if (connections.takesStream(incoming.method ?? '', pathOf(incoming))) {
    const body = new RequestStream(incoming, connections.times)
    outgoing.once('finish', () => body.drop())
    run(turn, body.stream, connections)
    return
  }
  const { headers } = incoming
  if (isTooLarge(incoming, maxRequestBytes)) refuse(turn, fail('body_too_large', [maxRequestBytes]))
  else if (incoming.httpVersionMajor < 1) refuse(turn, fail('malformed_http', []))
  else if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    run(turn, undefined, connections)
  } else readBody(turn, connections)
}

function readBody(turn: Turn, connections: Connections): void {
  const { incoming, outgoing } = turn
  const { maxRequestBytes } = connections
  let size = 0
  let first: Buffer | undefined
  let more: Buffer[] | undefined
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxRequestBytes) {
      incoming.removeAllListeners('data')
      incoming.removeAllListeners('end')
      refuse(turn, fail('body_too_large', [maxRequestBytes]))
    } else if (first === undefined) first = chunk
    else {
      more ??= []
      more.push(chunk)
    }
  })
  incoming.on('end', () => {
    const body = more === undefined ? first : Buffer.concat([first as Buffer, ...more], size)
    // The connection remembers its last request: an idle one must not hold what that carried.
    first = undefined
    more = undefined
    run(turn, body, connections)
  })
  incoming.on('error', () => outgoing.destroy())
}

/** The body is not read: the connection ends with the answer. */
function refuse({ incoming, outgoing }: Pick<Turn, 'incoming' | 'outgoing'>, refusal: Refusal): void {
  outgoing.shouldKeepAlive = false
  write(outgoing, refusalResponse(refusal), incoming.method === 'HEAD')
  incoming.on('error', () => outgoing.destroy())
  incoming.resume()
}

function run(turn: Turn, body: Buffer | ByteStream | undefined, { handle, isOpen, auditedHeaders }: Connections): void {
  const { incoming, outgoing } = turn
  const target = incoming.url ?? ''
  const question = target.indexOf('?')
  const request: WireRequest = {
    method: incoming.method ?? '',
    rawPath: pathOf(incoming),
    query: question === -1 ? '' : target.slice(question + 1),
    headers: wireHeaders(incoming.headers, auditedHeaders?.()),
    ...(body instanceof ReadableStream ? { body: undefined, stream: body } : { body }),
    remoteAddress: incoming.socket.remoteAddress ?? '',
  }
  turn.start(() =>
    handle(request).then(
      (response) => {
        // What was not read of a stream would stand before the next request.
        const isLeft = request.stream !== undefined && !incoming.complete
        if (isLeft || !isOpen()) outgoing.shouldKeepAlive = false
        write(outgoing, response, incoming.method === 'HEAD')
      },
      // The core answers every failure itself; what is left is a connection that cannot be written to.
      () => {
        outgoing.destroy()
      },
    ),
  )
}

function pathOf({ url = '' }: IncomingMessage): string {
  const question = url.indexOf('?')
  return question === -1 ? url : url.slice(0, question)
}

/** RFC 9110 section 15: answers with these have no body, whoever asks for them. */
const BODILESS_STATUSES = [204, 205, 304]

function write(outgoing: ServerResponse, response: WireResponse, headOnly: boolean): void {
  const { status, body, headers, stream } = response
  if (stream !== undefined) {
    sendStream(outgoing, stream, headOnly)
    return
  }
  if (body === undefined || BODILESS_STATUSES.includes(status)) {
    outgoing.writeHead(status, { 'Cache-Control': 'no-store', ...(status === 204 ? {} : NO_BODY), ...headers })
    outgoing.end()
    return
  }
  outgoing.writeHead(status, {
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  })
  if (headOnly) outgoing.end()
  else outgoing.end(body)
}

const NO_BODY = { 'Content-Length': 0 }
