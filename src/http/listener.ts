// The socket side: node:http behind one boundary, so that it can be replaced. Reads a request within its limits, hands
// plain data to the core, writes what comes back.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { fail } from '../api/errors.ts'
import type { WireRequest, WireResponse } from '../core/exchange.ts'
import { refusalResponse } from '../core/response.ts'
import { listRequest } from './extension-method.ts'
import { wireHeaders } from './headers.ts'

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
export type Listener = { readonly port: number; close(): Promise<void> }

/** @throws the system's error where the address cannot be used (EADDRINUSE, EACCES, …) */
export async function listen(host: string, port: number, limits: ListenerLimits, handle: Handle): Promise<Listener> {
  const server = createServer({
    headersTimeout: limits.readHeaderTimeoutMs,
    requestTimeout: limits.readTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    requireHostHeader: false,
    noDelay: true,
  })
  server.maxConnections = MAX_CONNECTIONS
  server.maxHeadersCount = MAX_HEADERS
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    serve(incoming, outgoing, limits.maxRequestBytes, handle)
  })
  server.on('clientError', (cause: ParserError, socket: Socket) => {
    void answerParserError(cause, socket, handle)
  })
  await started(server, host, port)
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () => stopped(server),
  }
}

function started(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
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

function serve(incoming: IncomingMessage, outgoing: ServerResponse, maxBytes: number, handle: Handle): void {
  const declared = incoming.headers['content-length']
  if (declared !== undefined && Number(declared) > maxBytes) {
    tooLarge(incoming, outgoing, maxBytes)
    return
  }
  if (declared === undefined && incoming.headers['transfer-encoding'] === undefined) {
    run(incoming, outgoing, undefined, handle)
    return
  }
  let size = 0
  let first: Buffer | undefined
  let more: Buffer[] | undefined
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes) {
      incoming.removeAllListeners('data')
      incoming.removeAllListeners('end')
      tooLarge(incoming, outgoing, maxBytes)
    } else if (first === undefined) first = chunk
    else {
      more ??= []
      more.push(chunk)
    }
  })
  incoming.on('end', () => {
    const body = more === undefined ? first : Buffer.concat([first as Buffer, ...more], size)
    run(incoming, outgoing, body, handle)
  })
  incoming.on('error', () => outgoing.destroy())
}

/** The rest of the body is not read: the connection ends with the answer. */
function tooLarge(incoming: IncomingMessage, outgoing: ServerResponse, maxBytes: number): void {
  outgoing.shouldKeepAlive = false
  write(outgoing, refusalResponse(fail('body_too_large', [maxBytes])), incoming.method === 'HEAD')
  incoming.resume()
}

function run(incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer | undefined, handle: Handle): void {
  const target = incoming.url ?? ''
  const question = target.indexOf('?')
  const request: WireRequest = {
    method: incoming.method ?? '',
    rawPath: question === -1 ? target : target.slice(0, question),
    query: question === -1 ? '' : target.slice(question + 1),
    headers: wireHeaders(incoming.headers),
    body,
    remoteAddress: incoming.socket.remoteAddress ?? '',
  }
  handle(request).then(
    (response) => write(outgoing, response, incoming.method === 'HEAD'),
    // The core answers every failure itself; what is left is a connection that cannot be written to.
    () => outgoing.destroy(),
  )
}

function write(outgoing: ServerResponse, response: WireResponse, headOnly: boolean): void {
  const { status, body, headers } = response
  if (body === undefined) {
    outgoing.writeHead(status, { 'Cache-Control': 'no-store', ...headers })
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

type ParserError = Error & { readonly code?: string; readonly rawPacket?: Buffer; readonly bytesParsed?: number }

/** node:http refuses the methods LIST, SCAN and HELP; such a head is read here, strictly, and its connection ends. */
async function answerParserError(cause: ParserError, socket: Socket, handle: Handle): Promise<void> {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  socket.on('error', () => socket.destroy())
  const request =
    cause.code === 'HPE_INVALID_METHOD' ? listRequest(cause.rawPacket, socket.remoteAddress ?? '') : undefined
  const response = request === undefined ? malformed(cause.code) : await handle(request)
  const body = response.body ?? ''
  const head = `HTTP/1.1 ${response.status} ${response.status < 400 ? 'OK' : 'Refused'}\r\nCache-Control: no-store\r\n`
  const type = body === '' ? '' : 'Content-Type: application/json\r\n'
  socket.end(`${head}${type}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`)
}

function malformed(code: string | undefined): WireResponse {
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, body: '{"errors":["The request headers are too large"]}\n' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, body: '{"errors":["The request took too long to arrive"]}\n' }
  return { status: 400, body: '{"errors":["The request is not well-formed HTTP"]}\n' }
}
