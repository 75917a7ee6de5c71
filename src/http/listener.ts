// The socket side: node:http and node:https behind one boundary, so that they can be replaced.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import type { Socket } from 'node:net'
import { fail } from '../api/errors.ts'
import type { ListenerSwitches } from '../api/request.ts'
import { refusalResponse } from '../core/response.ts'
import { createServer } from '../lib/node-http.ts'
import { type ForwardedRules, forwardedAddress } from './client-address.ts'
import { ConnectionQueue } from './connection-queue.ts'
import { type ConnectionParts, Connections } from './connections.ts'
import type { HeaderSource } from './headers.ts'
import { hasContentCoding, hasUnknownCoding, isTooLarge } from './heads.ts'
import type { ListenerLimits } from './limits.ts'
import { closeWith, type ParserError, ParserErrors } from './parser-error.ts'
import type { ProxyRules } from './proxy-protocol.ts'
import { type RequestParts, refuse, type Service, serve } from './requests.ts'
import { type CustomHeaders, headersFor } from './response-headers.ts'
import { secureOptions, type TlsMaterial, type TlsRules } from './tls.ts'
import { makeRoom, setOwner, type UnixAddress } from './unix-socket.ts'

/** What the configuration says of a listener: plain data, the same in all threads. */
export type ListenerRules = {
  readonly limits: ListenerLimits
  /** Undefined: in clear. */
  readonly tls: TlsRules | undefined
  readonly forwarded: ForwardedRules | undefined
  readonly proxy: ProxyRules | undefined
  readonly headers: CustomHeaders
  /** Goes with each request; undefined where none is on. */
  readonly switches: ListenerSwitches | undefined
}

/** `share`: other threads of this process listen on the same port, and the system spreads the connections. */
export type TcpAddress = { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly share: boolean }
export type ListenAddress = TcpAddress | UnixAddress

export type Listener = {
  /** 0 for a Unix socket. */
  readonly port: number
  /** Connections that come from here on get this material; those that there are go on. */
  renewTls(material: TlsMaterial): void
  /** Takes no new connection; resolves when every running request is answered. */
  close(): Promise<void>
  /** Ends the connections that `close` waits for. */
  dropConnections(): void
}

export type ListenOptions = {
  readonly address: ListenAddress
  readonly rules: ListenerRules
  /** Where the rules have TLS. */
  readonly material: TlsMaterial | undefined
  readonly service: Service
  readonly parts: ConnectionParts
}

const CHECK_INTERVAL_MS = 1_000
const MAX_HEADERS = 200
/** How long a client that is refused may go on sending. */
const LINGER_MS = 2_000

/** @throws the system's error where the address cannot be used (EADDRINUSE, EACCES, …) */
export async function listen({ address, rules, material, service, parts }: ListenOptions): Promise<Listener> {
  const server = newServer(rules, material)
  const { proxy, forwarded, tls, limits } = rules
  const connections = new Connections(
    server,
    {
      proxy,
      proxies: forwarded?.authorized ?? [],
      isTls: tls !== undefined,
      headerTimeoutMs: limits.readHeaderTimeoutMs,
    },
    parts,
  )
  const { traffic } = service
  if (traffic !== undefined) {
    server.on('connection', (socket: Socket) => {
      traffic.opened()
      socket.once('close', traffic.closed)
    })
  }
  const { deadlines } = parts
  const requests: RequestParts = {
    ...service,
    turns: new ConnectionQueue(),
    limits,
    memory: parts.figures,
    reads: deadlines.queue(limits.readTimeoutMs),
    works: deadlines.queue(limits.maxRequestMs),
    writes: deadlines.queue(limits.writeTimeoutMs),
    lingers: deadlines.queue(LINGER_MS),
    ended: new WeakSet(),
    headersFor: headersFor(rules.headers),
    isTls: tls !== undefined,
    switches: rules.switches,
    addressOf: addressFinder(connections, forwarded),
    isOpen: () => server.listening,
  }
  answerRequests(server, requests)
  await started(server, address)
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : 0,
    renewTls: (renewed) => {
      if (tls !== undefined) (server as SecureServer).setSecureContext(secureOptions(tls, renewed))
    },
    close: () => {
      const stopping = stopped(server)
      connections.dropStarting()
      return stopping
    },
    dropConnections: () => {
      connections.dropStarting()
      server.closeAllConnections()
    },
  }
}

function newServer({ limits, tls }: ListenerRules, material: TlsMaterial | undefined): Server {
  const options = {
    headersTimeout: limits.readHeaderTimeoutMs,
    // Bodies have a deadline of their own, since some have no size (requests.ts).
    requestTimeout: 0,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // What lacks it gets an answer of ours (heads.ts).
    requireHostHeader: false,
    noDelay: true,
  }
  const server =
    tls === undefined || material === undefined
      ? createServer(options)
      : createSecureServer({ ...options, ...secureOptions(tls, material) })
  server.maxHeadersCount = MAX_HEADERS
  // A handshake that fails is nothing that could be answered in HTTP.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (_cause: Error, socket: Socket) => socket.destroy())
  return server
}

function addressFinder(connections: Connections, rules: ForwardedRules | undefined): RequestParts['addressOf'] {
  if (rules === undefined) return (socket) => connections.addressOf(socket)
  const forwarded = forwardedAddress(rules)
  // Several lines of it are one list, in their order (RFC 9110 section 5.3); the parser joins them so.
  return (socket, headers: HeaderSource) =>
    forwarded(connections.addressOf(socket), headers['x-forwarded-for']?.toString())
}

function answerRequests(server: Server, requests: RequestParts): void {
  const parserErrors = new ParserErrors(requests)
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => serve(incoming, outgoing, requests))
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    // A body that is too large is not asked for.
    const [path = ''] = (incoming.url ?? '').split('?', 1)
    const isStream = requests.takesStream(incoming.method ?? '', path)
    const isTaken = isStream || !isTooLarge(incoming, requests.limits)
    if (isTaken && !hasUnknownCoding(incoming) && !hasContentCoding(incoming)) outgoing.writeContinue()
    serve(incoming, outgoing, requests)
  })
  server.on('checkExpectation', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    refuse(requests.turns.take(incoming, outgoing), fail('expectation_failed', []), requests)
  })
  server.on('connect', (_incoming: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    const close = (): void => {
      closeWith(socket, refusalResponse(fail('method_not_allowed', [])), requests.headersFor)
    }
    requests.turns.over(socket).then(close, () => socket.destroy())
  })
  server.on('clientError', (cause: ParserError, socket: Socket) => {
    parserErrors.answer(cause, socket).catch(() => socket.destroy())
  })
}

async function started(server: Server, address: ListenAddress): Promise<void> {
  if (address.kind === 'unix') await makeRoom(address.path)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    const where =
      address.kind === 'unix'
        ? { path: address.path }
        : { port: address.port, host: address.host, reusePort: address.share }
    server.listen(where, () => {
      server.off('error', reject)
      // An error on the listening socket later on ends no request; there is nobody to tell but the log of the system.
      server.on('error', () => {})
      resolve()
    })
  })
  if (address.kind !== 'unix') return
  try {
    setOwner(address)
  } catch (cause) {
    // What listens would keep the process that is to end.
    const stopping = stopped(server)
    server.closeAllConnections()
    await stopping
    throw cause
  }
}

/** Takes no new connection, lets running requests finish, closes idle connections. */
function stopped(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}
