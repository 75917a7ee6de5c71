// One address of one service: turns HTTP into plain data, and opens and closes as tests want it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { LoopbackCertificate } from './certificates.ts'
import type { CloudRequest, Scheme, Service } from './exchange.ts'

/** Answers a request itself, since a fault may be in how the answer is sent. */
export type Serve = (request: CloudRequest, outgoing: ServerResponse) => Promise<void>

/** Settings of a listener. */
export type ListenerOptions = {
  readonly service: Service
  readonly scheme: Scheme
  readonly host: string
  /** 0 for any free one. */
  readonly port: number
  readonly certificate: LoopbackCertificate
  readonly serve: Serve
}

const MOST_BODY_BYTES = 1 << 20
/** RFC 8446 section 6: a fatal alert, handshake_failure. */
const HANDSHAKE_FAILURE = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28])

/** A listener. It keeps its port while it is closed. */
export class Listener {
  readonly #options: ListenerOptions
  #server: Server | undefined
  /** If set, each TLS handshake ends with an alert. */
  breaksTls = false
  #port: number

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#port = options.port
  }

  /** Its address, `https://127.0.0.1:40001`, known from the first opening on. */
  get origin(): string {
    const { scheme, host } = this.#options
    return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${this.#port}`
  }

  /** Opens it, on the same port as before. Rejects if the port is taken. */
  async open(): Promise<void> {
    if (this.#server !== undefined) return
    const { scheme, certificate, host } = this.#options
    const take = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
      // This fails only if the client leaves before the end of its request.
      this.#take(incoming, outgoing).catch(() => outgoing.destroy())
    }
    const server: Server =
      scheme === 'http'
        ? createServer(take)
        : createTlsServer({ cert: certificate.certificate, key: certificate.privateKey, minVersion: 'TLSv1.2' }, take)
    // The first listener for connections runs before the runtime reads the ClientHello.
    server.prependListener('connection', (socket: Socket) => {
      if (this.breaksTls) socket.end(HANDSHAKE_FAILURE)
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.#port, host, resolve)
    })
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** Ends its connections. New ones are refused until `open`. */
  async close(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  async #take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await readBody(incoming)
    if (body === undefined) {
      outgoing.writeHead(413, { Connection: 'close' }).end()
      return
    }
    const { service, scheme, serve } = this.#options
    const target = incoming.url ?? '/'
    const mark = target.indexOf('?')
    const request: CloudRequest = {
      service,
      scheme,
      origin: this.origin,
      method: incoming.method ?? 'GET',
      path: mark === -1 ? target : target.slice(0, mark),
      query: new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1)),
      headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
      body,
    }
    await serve(request, outgoing)
  }
}

/** Reads a body; undefined if it is longer than any that a service accepts. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
