// Admits new connections: counts and bounds them, reads a proxy's header if there is one, then hands them to the HTTP
// or TLS server. A fault of one connection ends that connection alone (threats H-04, H-06).
import type { Server, Socket } from 'node:net'
import { cidrMatcher } from '../lib/cidr.ts'
import type { Log } from '../lib/log.ts'
import type { DeadlineQueue, Deadlines } from './deadlines.ts'
import { type ProxyRules, readProxyHeader } from './proxy-protocol.ts'
import type { ThreadFigures } from './shared-figures.ts'

/** The part of a listener's configuration that is about connections. */
export type ConnectionRules = {
  readonly proxy: ProxyRules | undefined
  /** Address blocks of proxies, which stand for many clients: the limit per address does not apply to them. */
  readonly proxies: readonly string[]
  readonly isTls: boolean
  /** How long a proxy may take to write its header. */
  readonly headerTimeoutMs: number
}

/** Services that all listeners of a thread share. */
export type ConnectionParts = {
  readonly figures: ThreadFigures
  readonly deadlines: Deadlines
  readonly log: Log
}

/** Least time between two log lines about refused connections: a flood must not flood the log. */
const LOG_PAUSE_MS = 60_000

/** The connections of one listener in one thread. */
export class Connections {
  readonly #rules: ConnectionRules
  readonly #parts: ConnectionParts
  /** True for the address of a proxy, which stands for many clients. */
  readonly #isProxy: (address: string) => boolean
  /** True if a proxy's header is read from this address. The right to write X-Forwarded-For does not include it. */
  readonly #mayWriteHeader: (address: string) => boolean
  readonly #headerDeadlines: DeadlineQueue
  /** Client addresses by the names of both ends: the socket that speaks TLS is not the object that was accepted. */
  readonly #proxied = new Map<string, string>()
  /** Connections that no request can have come on yet: ending them cuts off no work. */
  readonly #starting = new Map<string, Socket>()
  #loggedAtMs = Number.NEGATIVE_INFINITY
  #refused = 0

  /** Puts itself before the server's own handlers of new connections. Make it before the server listens. */
  constructor(server: Server, rules: ConnectionRules, parts: ConnectionParts) {
    this.#rules = rules
    this.#parts = parts
    this.#headerDeadlines = parts.deadlines.queue(rules.headerTimeoutMs)
    const { proxy, proxies } = rules
    const authorized = proxy === undefined || proxy.behavior === 'use_always' ? [] : proxy.authorized
    const isAlways = proxy?.behavior === 'use_always'
    this.#isProxy = isAlways ? () => true : cidrMatcher([...proxies, ...authorized])
    this.#mayWriteHeader = isAlways ? () => true : cidrMatcher(authorized)
    const inner = server.listeners('connection') as ((socket: Socket) => void)[]
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      try {
        this.#admit(socket, () => {
          for (const take of inner) take.call(server, socket)
        })
      } catch {
        socket.destroy()
      }
    })
    server.on('secureConnection', (socket: Socket) => this.#starting.delete(nameOf(socket)))
  }

  /** Returns the client's address: that of the other end, or the one that a proxy told. */
  addressOf(socket: Socket): string {
    const peer = socket.remoteAddress ?? ''
    return this.#rules.proxy === undefined ? peer : (this.#proxied.get(nameOf(socket)) ?? peer)
  }

  /** Ends connections that no request has come on yet, so that closing the listener need not wait for them. */
  dropStarting(): void {
    for (const socket of this.#starting.values()) socket.destroy()
  }

  #admit(socket: Socket, take: () => void): void {
    const { figures } = this.#parts
    const peer = socket.remoteAddress ?? ''
    if (!figures.addConnection()) {
      this.#refuse(socket)
      return
    }
    const isCounted = peer !== '' && !this.#isProxy(peer)
    if (isCounted && !figures.addAddress(peer)) {
      figures.removeConnection()
      this.#refuse(socket)
      return
    }
    const name = nameOf(socket)
    socket.once('close', () => {
      figures.removeConnection()
      if (isCounted) figures.removeAddress(peer)
      this.#proxied.delete(name)
      this.#starting.delete(name)
    })
    const { proxy, isTls } = this.#rules
    if (isTls || proxy !== undefined) this.#starting.set(name, socket)
    const isTrusted = this.#mayWriteHeader(peer)
    if (proxy?.behavior === 'deny_unauthorized' && !isTrusted) socket.destroy()
    else if (proxy === undefined || !isTrusted) this.#hand(name, take)
    else this.#readProxy(socket, name, take)
  }

  #hand(name: string, take: () => void): void {
    if (!this.#rules.isTls) this.#starting.delete(name)
    take()
  }

  #readProxy(socket: Socket, name: string, take: () => void): void {
    const end = (): void => {
      socket.destroy()
    }
    const deadline = this.#headerDeadlines.add(end)
    let bytes: Buffer = Buffer.alloc(0)
    const read = (part: Buffer): void => {
      bytes = bytes.length === 0 ? part : Buffer.concat([bytes, part])
      const header = readProxyHeader(bytes)
      if (header.kind === 'incomplete') return
      if (header.kind === 'malformed') {
        end()
        return
      }
      socket.off('data', read).off('error', end).off('end', end).off('close', forget)
      forget()
      if (header.address !== undefined) this.#proxied.set(name, header.address)
      // TLS reads unshifted bytes only from a paused socket, HTTP only from a flowing one.
      if (this.#rules.isTls) socket.pause()
      const rest = bytes.subarray(header.length)
      if (rest.length > 0) socket.unshift(rest)
      this.#hand(name, take)
    }
    const forget = (): void => this.#headerDeadlines.remove(deadline)
    socket.on('data', read).on('error', end).on('end', end).on('close', forget)
  }

  /** Closes the connection without an answer: an answer would cost the very memory and time that are short. */
  #refuse(socket: Socket): void {
    socket.destroy()
    this.#refused++
    const { deadlines, log } = this.#parts
    if (deadlines.tickMs - this.#loggedAtMs < LOG_PAUSE_MS) return
    this.#loggedAtMs = deadlines.tickMs
    log('warn', 'Connections are refused: max_connections or max_connections_per_address is reached', {
      refused: this.#refused,
    })
    this.#refused = 0
  }
}

function nameOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}
