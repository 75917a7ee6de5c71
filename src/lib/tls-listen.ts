// The port at which peers arrive. A stranger gets no byte but those of a TLS handshake, and holds little, for a short
// time.
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import { HalfOpen, type HalfOpenEntry } from './half-open.ts'
import {
  type LinkAddress,
  type LinkIdentity,
  type LinkParts,
  type Listening,
  SERVING_LIMITS,
  type Serving,
  type ServingLimits,
} from './links.ts'
import { type CertificateRefusal, certificateFacts, judgeCertificate } from './peer-certificate.ts'
import { peerCertificate, peerOf, type TlsConnection, TlsLink } from './tls-link.ts'
import { clockVerdict, secureContextOf, TLS_RULES, VERDICT } from './tls-settings.ts'

/** A connection whose handshake is under way. */
type Arrival = { readonly raw: Socket; readonly entry: HalfOpenEntry; readonly deadline: { cancel(): void } }

/** See `Links.listen`. */
export async function listenTls(parts: LinkParts, at: LinkAddress, serving: Serving): Promise<Listening> {
  const door = new Door(parts, serving)
  const server = createServer({ noDelay: true }, (raw) => door.arrived(raw))
  await opened(server, at)
  // What goes wrong with the port later, such as too many open files, concerns one connection.
  server.on('error', () => {})
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : at.port,
    close: () => {
      server.close()
      door.close()
    },
  }
}

function opened(server: Server, { host, port }: LinkAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Takes connections through their handshakes. */
class Door {
  readonly #parts: LinkParts
  readonly #serving: Serving
  readonly #limits: ServingLimits
  readonly #tls: TlsServer
  readonly #halfOpen: HalfOpen
  /** By the addresses of both ends: node:tls does not say which connection lies below a socket. */
  readonly #arrivals = new Map<string, Arrival>()

  constructor(parts: LinkParts, serving: Serving) {
    this.#parts = parts
    this.#serving = serving
    this.#limits = { ...SERVING_LIMITS, ...serving.limits }
    this.#halfOpen = new HalfOpen(this.#limits)
    this.#tls = createTlsServer({
      ...TLS_RULES,
      requestCert: true,
      // Judged in #proven, so that a peer can be told that a clock is wrong. Nothing is sent or read before.
      rejectUnauthorized: false,
      SNICallback: (serverName, done) => {
        try {
          const identity = this.#identity(serverName)
          done(null, identity && secureContextOf(identity))
        } catch (cause) {
          // An identity that cannot be used must not end the process: the connection closes.
          done(cause as Error)
        }
      },
      // A name that is not served looks like a protocol that is not served. Without either there is no certificate.
      ALPNCallback: ({ servername, protocols }) =>
        this.#identity(servername) && protocols.find((each) => serving.protocols.includes(each)),
    })
    this.#tls.on('secureConnection', (socket) => this.#secured(socket))
    this.#tls.on('tlsClientError', (_, socket) => socket.destroy())
  }

  arrived(raw: Socket): void {
    raw.on('error', () => {})
    const drop = () => void raw.destroy()
    const key = keyOf(raw)
    const entry = key === undefined ? undefined : this.#halfOpen.enter(raw.remoteAddress ?? '', drop)
    if (key === undefined || entry === undefined) {
      drop()
      return
    }
    const deadline = this.#parts.timers.after(this.#limits.handshakeMs, drop)
    this.#arrivals.set(key, { raw, entry, deadline })
    raw.once('close', () => this.#leave(key, raw))
    this.#tls.emit('connection', raw)
  }

  close(): void {
    this.#halfOpen.clear()
  }

  /**
   * Returns the connection whose handshake is over, if it is known. `closed` may tell so late, when another one has the
   * same addresses.
   */
  #leave(key: string | undefined, closed?: Socket): Socket | undefined {
    const arrival = this.#arrivals.get(key ?? '')
    if (key === undefined || arrival === undefined || arrival.raw !== (closed ?? arrival.raw)) return undefined
    this.#arrivals.delete(key)
    arrival.entry.leave()
    arrival.deadline.cancel()
    return arrival.raw
  }

  #secured(socket: TLSSocket): void {
    socket.on('error', () => {})
    const raw = this.#leave(keyOf(socket))
    const { servername: serverName, alpnProtocol: protocol } = socket
    const identity = this.#identity(serverName)
    if (raw === undefined || identity === undefined || typeof serverName !== 'string' || typeof protocol !== 'string') {
      socket.destroy()
      return
    }
    const refusal = this.#refusal(socket, identity)
    if (refusal !== undefined) {
      // The authority of the set has issued it, so its owner is no stranger.
      if (refusal.reason === 'clock') socket.end(clockVerdict(this.#parts.clock.nowMs()), () => socket.destroy())
      else socket.destroy()
      return
    }
    socket.write(Buffer.of(VERDICT.accepted))
    this.#accept({ raw, socket, timers: this.#parts.timers }, { serverName, protocol, identity })
  }

  #accept(connection: TlsConnection, by: { serverName: string; protocol: string; identity: LinkIdentity }): void {
    const { serverName, protocol, identity } = by
    const address = connection.socket.remoteAddress ?? ''
    const peer = peerOf(connection.socket, identity.trusted, { serverName, protocol, address })
    this.#serving.accept(new TlsLink(connection, peer, this.#limits.mostUnsentBytes))
  }

  /**
   * Both must agree: the runtime, and the rule of links. A resumed session shows no certificate, and proves nothing.
   */
  #refusal(socket: TLSSocket, identity: LinkIdentity): CertificateRefusal | undefined {
    const facts = certificateFacts(peerCertificate(socket), identity.trusted)
    const refusal = judgeCertificate(facts, { by: 'dialer' }, this.#parts.clock.nowMs())
    if (refusal !== undefined) return refusal
    return socket.authorized && !socket.isSessionReused() ? undefined : { reason: 'untrusted', what: 'is not valid' }
  }

  /** A stranger may name no server: the runtime then gives what is no text. */
  #identity(serverName: unknown): LinkIdentity | undefined {
    if (typeof serverName !== 'string' || serverName === '') return undefined
    try {
      return this.#serving.identities(serverName)
    } catch {
      // Who asks is in the middle of a handshake: it ends, and the process does not.
      return undefined
    }
  }
}

function keyOf({ localAddress, remoteAddress, remotePort }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : `${localAddress} ${remoteAddress} ${remotePort}`
}
