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
import { type ListenAddress, listenOn } from './listening-socket.ts'
import { closeWith, type ParserError, ParserErrors } from './parser-error.ts'
import type { ProxyRules } from './proxy-protocol.ts'
import { type RequestParts, refuse, type Service, serve, type Traffic } from './requests.ts'
import { type CustomHeaders, headersFor } from './response-headers.ts'
import { secureOptions, type TlsMaterial, type TlsRules } from './tls.ts'

/** The configuration of a listener: plain data, the same in all threads. */
export type ListenerRules = {
  readonly limits: ListenerLimits
  /** Undefined for a listener without TLS. */
  readonly tls: TlsRules | undefined
  readonly forwarded: ForwardedRules | undefined
  readonly proxy: ProxyRules | undefined
  readonly headers: CustomHeaders
  /** Handed on with each request; undefined if no switch is on. */
  readonly switches: ListenerSwitches | undefined
}

/** A listener that is open. */
export type Listener = {
  /** The port that was bound; 0 for a Unix socket. */
  readonly port: number
  /** Uses this material for new connections; existing ones keep theirs. Does nothing on a listener without TLS. */
  renewTls(material: TlsMaterial): void
  /** Stops accepting; resolves when every running request is answered. */
  close(): Promise<void>
  /** Ends the connections that `close` waits for. */
  dropConnections(): void
}

/** The arguments of `listen`. */
export type ListenOptions = {
  readonly address: ListenAddress
  readonly rules: ListenerRules
  /** Set if, and only if, the rules have TLS. */
  readonly material: TlsMaterial | undefined
  readonly service: Service
  readonly parts: ConnectionParts
}

/** How often node:http looks for connections whose headers are late. */
const CHECK_INTERVAL_MS = 1_000
const MAX_HEADERS = 200
/** How long a refused client may go on sending before its connection is cut. */
const LINGER_MS = 2_000

/** Opens a listener. @throws the system's error if the address cannot be used (EADDRINUSE, EACCES, …) */
export async function listen({ address, rules, material, service, parts }: ListenOptions): Promise<Listener> {
  const server = newServer(rules, material)
  const connections = newConnections(server, rules, parts)
  if (service.traffic !== undefined) countConnections(server, service.traffic)
  answerRequests(server, requestParts(server, connections, { rules, service, parts }))
  await started(server, address)
  return openListener(server, connections, rules.tls)
}

function newConnections(server: Server, rules: ListenerRules, parts: ConnectionParts): Connections {
  const { proxy, forwarded, tls, limits } = rules
  const connectionRules = {
    proxy,
    proxies: forwarded?.authorized ?? [],
    isTls: tls !== undefined,
    headerTimeoutMs: limits.readHeaderTimeoutMs,
  }
  return new Connections(server, connectionRules, parts)
}

/** Counts every connection, also one that `Connections` refuses at once. */
function countConnections(server: Server, traffic: Traffic): void {
  server.on('connection', (socket: Socket) => {
    traffic.opened()
    socket.once('close', traffic.closed)
  })
}

function requestParts(
  server: Server,
  connections: Connections,
  { rules, service, parts }: Pick<ListenOptions, 'rules' | 'service' | 'parts'>,
): RequestParts {
  const { limits } = rules
  const { deadlines } = parts
  return {
    ...service,
    queue: new ConnectionQueue(),
    limits,
    memory: parts.figures,
    reads: deadlines.queue(limits.readTimeoutMs),
    works: deadlines.queue(limits.maxRequestMs),
    writes: deadlines.queue(limits.writeTimeoutMs),
    lingers: deadlines.queue(LINGER_MS),
    ended: new WeakSet(),
    headersFor: headersFor(rules.headers),
    isTls: rules.tls !== undefined,
    switches: rules.switches,
    addressOf: addressFinder(connections, rules.forwarded),
    isOpen: () => server.listening,
  }
}

function openListener(server: Server, connections: Connections, tls: TlsRules | undefined): Listener {
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
    // A request without Host gets an answer of ours (heads.ts).
    requireHostHeader: false,
    noDelay: true,
  }
  const server =
    tls === undefined || material === undefined
      ? createServer(options)
      : createSecureServer({ ...options, ...secureOptions(tls, material) })
  server.maxHeadersCount = MAX_HEADERS
  // A failed handshake cannot be answered in HTTP.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (_cause: Error, socket: Socket) => socket.destroy())
  return server
}

function addressFinder(connections: Connections, rules: ForwardedRules | undefined): RequestParts['addressOf'] {
  if (rules === undefined) return (socket) => connections.addressOf(socket)
  const forwarded = forwardedAddress(rules)
  // Several lines of this header form one list, in their order (RFC 9110 section 5.3), and the parser joins them so.
  return (socket, headers: HeaderSource) =>
    forwarded(connections.addressOf(socket), headers['x-forwarded-for']?.toString())
}

function answerRequests(server: Server, requests: RequestParts): void {
  const parserErrors = new ParserErrors(requests)
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => serve(incoming, outgoing, requests))
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    // A body that would be refused is not asked for.
    const [path = ''] = (incoming.url ?? '').split('?', 1)
    const isStream = requests.takesStream(incoming.method ?? '', path)
    const isTaken = isStream || !isTooLarge(incoming, requests.limits)
    if (isTaken && !hasUnknownCoding(incoming) && !hasContentCoding(incoming)) outgoing.writeContinue()
    serve(incoming, outgoing, requests)
  })
  server.on('checkExpectation', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    refuse(requests.queue.take(incoming, outgoing), fail('expectation_failed', []), requests)
  })
  server.on('connect', (_incoming: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    const close = (): void => {
      closeWith(socket, refusalResponse(fail('method_not_allowed', [])), requests.headersFor)
    }
    requests.queue.over(socket).then(close, () => socket.destroy())
  })
  server.on('clientError', (cause: ParserError, socket: Socket) => {
    parserErrors.answer(cause, socket).catch(() => socket.destroy())
  })
}

async function started(server: Server, address: ListenAddress): Promise<void> {
  try {
    await listenOn(server, address)
  } catch (cause) {
    if (server.listening) {
      // A socket that still listens would keep the process alive, which is about to end.
      const stopping = stopped(server)
      server.closeAllConnections()
      await stopping
    }
    throw cause
  }
}

/** Stops accepting and closes idle connections; resolves when running requests are answered. */
function stopped(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}
