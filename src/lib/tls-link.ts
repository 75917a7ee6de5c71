// A link over a TLS connection whose peer is proven.
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import {
  type Link,
  LinkClosed,
  type LinkEnd,
  LinkFull,
  type LinkIdentity,
  type LinkParts,
  type LinkPeer,
} from './links.ts'
import { certificateFacts } from './peer-certificate.ts'

const DONE: Promise<void> = Promise.resolve()

/** The parts of a connection. `raw` lies below `socket`, and can be reset. */
export type TlsConnection = {
  readonly raw: Socket
  readonly socket: TLSSocket
  readonly timers: LinkParts['timers']
}

/** The certificate that the peer showed; empty if there is none. */
export function peerCertificate(socket: TLSSocket): Buffer {
  return socket.getPeerX509Certificate()?.raw ?? Buffer.alloc(0)
}

/** Who the peer is, once its certificate was judged. */
export function peerOf(
  socket: TLSSocket,
  trusted: LinkIdentity['trusted'],
  over: Pick<LinkPeer, 'serverName' | 'protocol' | 'address'>,
): LinkPeer {
  const certificate = peerCertificate(socket)
  return { certificate, names: certificateFacts(certificate, trusted).uris, ...over }
}

/** See `Link`. It reads ahead what node:tls buffers: 64 KiB and one record. */
export class TlsLink implements Link {
  readonly peer: LinkPeer
  readonly closed: Promise<LinkEnd>
  readonly #connection: TlsConnection
  readonly #mostUnsentBytes: number
  #end: LinkEnd | undefined
  #destroyedWhy: string | undefined
  #fault: Error | undefined
  /** Pending while more waits to be sent than should. */
  #room: PromiseWithResolvers<void> | undefined
  /** Wakes the reader. */
  #wake: () => void = () => {}

  constructor(connection: TlsConnection, peer: LinkPeer, mostUnsentBytes: number) {
    this.#connection = connection
    this.peer = peer
    this.#mostUnsentBytes = mostUnsentBytes
    const { socket } = connection
    const { promise, resolve } = Promise.withResolvers<LinkEnd>()
    this.closed = promise
    socket.on('error', (cause) => {
      this.#fault ??= cause
      // The runtime tells of bytes that cannot be deciphered, and leaves the connection open.
      this.#reset()
    })
    // A side that has ended drains no more: it finishes.
    for (const news of ['drain', 'finish'] as const) {
      socket.on(news, () => {
        this.#room?.resolve()
        this.#room = undefined
      })
    }
    for (const news of ['readable', 'end'] as const) socket.on(news, () => this.#wake())
    socket.on('close', () => {
      const end = this.#howItEnded()
      this.#end = end
      this.#room?.reject(new LinkClosed(end))
      this.#wake()
      resolve(end)
    })
  }

  send(bytes: Buffer): Promise<void> {
    const { socket } = this.#connection
    if (!socket.writable || this.#isOver()) return refused(new LinkClosed(this.#presentEnd()))
    const unsentBytes = socket.writableLength
    if (unsentBytes + bytes.length > this.#mostUnsentBytes) return refused(new LinkFull(unsentBytes))
    if (socket.write(bytes)) return DONE
    if (this.#room === undefined) {
      this.#room = Promise.withResolvers()
      // A sender may have stopped to wait for it.
      this.#room.promise.catch(() => {})
    }
    return this.#room.promise
  }

  get incoming(): AsyncIterable<Buffer> {
    return { [Symbol.asyncIterator]: () => this.#read() }
  }

  end(): void {
    this.#connection.socket.end()
  }

  destroy(why: string): void {
    if (this.#end !== undefined || this.#isOver()) return
    this.#destroyedWhy = why
    this.#reset()
    this.#wake()
  }

  /** It will be closed, whatever the socket says yet. */
  #isOver(): boolean {
    return this.#destroyedWhy !== undefined || this.#fault !== undefined
  }

  /**
   * Closes by a reset: otherwise the peer could take it for an end in good order. Not within a callback of the TLS
   * library, such as that of a handshake: closing `raw` below it would free what the library goes on to use.
   */
  #reset(): void {
    const { raw, socket, timers } = this.#connection
    timers.after(0, () => {
      raw.resetAndDestroy()
      socket.destroy()
    })
  }

  async *#read(): AsyncGenerator<Buffer, void, undefined> {
    const { socket } = this.#connection
    for (;;) {
      if (this.#isOver()) throw new LinkClosed(this.#presentEnd())
      const chunk = socket.read() as Buffer | null
      if (chunk !== null) {
        yield chunk
        continue
      }
      if (socket.readableEnded) return
      if (socket.destroyed) throw new LinkClosed(this.#presentEnd())
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Before the connection is closed, too: the end is known by then, though not yet told. */
  #presentEnd(): LinkEnd {
    return this.#end ?? this.#howItEnded()
  }

  #howItEnded(): LinkEnd {
    if (this.#destroyedWhy !== undefined) return { how: 'destroyed', why: this.#destroyedWhy }
    const { socket } = this.#connection
    if (this.#fault !== undefined) return { how: 'lost', why: codeOf(this.#fault) }
    if (socket.readableEnded) return { how: 'ended', why: 'both sides were done' }
    if (socket.writableEnded && !socket.destroyed) return { how: 'ended', why: 'this side was done' }
    return { how: 'lost', why: 'the connection was closed' }
  }
}

function refused(cause: Error): Promise<void> {
  const promise = Promise.reject(cause)
  // A caller that does not wait learns it from `closed`.
  promise.catch(() => {})
  return promise
}

/** The code of an error of the system, which names no more than is needed. */
export function codeOf(cause: Error): string {
  return (cause as NodeJS.ErrnoException).code ?? cause.message
}
