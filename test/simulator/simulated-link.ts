// A link over the simulated network. Its rules are those of a real one (src/lib/links.ts), its buffers smaller.
import { type Link, LinkClosed, type LinkEnd, LinkFull, type LinkPeer } from '../../src/lib/links.ts'
import type { Random } from '../../src/lib/world.ts'
import { below, type Segment, type SimulatedSocket } from './network.ts'

/** Above it a sender waits. */
const COMFORTABLE_BYTES = 64 << 10
/** What was sent arrives in pieces of any size up to this. */
const LARGEST_PIECE_BYTES = 16 << 10
/** With more than this on the way or unread, in the buffers of both kernels, nothing is sent. */
const FULL_BYTES = 256 << 10

export class SimulatedLink implements Link {
  readonly peer: LinkPeer
  readonly closed: Promise<LinkEnd>
  readonly #socket: SimulatedSocket
  readonly #random: Random
  readonly #mostUnsentBytes: number
  readonly #unsent: Buffer[] = []
  readonly #unread: Buffer[] = []
  #unsentBytes = 0
  #onTheWay = 0
  #isEnding = false
  #hasEnded = false
  #peerEnded = false
  #end: LinkEnd | undefined
  #room: PromiseWithResolvers<void> | undefined
  #wake: () => void = () => {}
  #close: (end: LinkEnd) => void

  constructor(socket: SimulatedSocket, peer: LinkPeer, { random, mostUnsentBytes }: LinkOptions) {
    this.#socket = socket
    this.peer = peer
    this.#random = random
    this.#mostUnsentBytes = mostUnsentBytes
    const { promise, resolve } = Promise.withResolvers<LinkEnd>()
    this.closed = promise
    this.#close = resolve
    socket.onSegment = (segment) => this.#arrived(segment)
    socket.onLost = (why) => this.#finish({ how: 'lost', why })
  }

  send(bytes: Buffer): Promise<void> {
    if (this.#end !== undefined || this.#isEnding) return refused(new LinkClosed(this.#presentEnd()))
    if (this.#unsentBytes + bytes.length > this.#mostUnsentBytes) return refused(new LinkFull(this.#unsentBytes))
    if (bytes.length > 0) this.#unsent.push(Buffer.from(bytes))
    this.#unsentBytes += bytes.length
    this.#transmit()
    if (this.#unsentBytes <= COMFORTABLE_BYTES) return Promise.resolve()
    if (this.#room === undefined) {
      this.#room = Promise.withResolvers()
      this.#room.promise.catch(() => {})
    }
    return this.#room.promise
  }

  get incoming(): AsyncIterable<Buffer> {
    return { [Symbol.asyncIterator]: () => this.#read() }
  }

  end(): void {
    if (this.#end !== undefined) return
    this.#isEnding = true
    this.#transmit()
  }

  destroy(why: string): void {
    if (this.#end !== undefined) return
    this.#socket.reset()
    this.#finish({ how: 'destroyed', why })
  }

  async *#read(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      if (this.#end !== undefined && this.#end.how !== 'ended') throw new LinkClosed(this.#end)
      const bytes = this.#unread.shift()
      if (bytes !== undefined) {
        this.#socket.send({ kind: 'read', count: bytes.length })
        yield bytes
        continue
      }
      if (this.#peerEnded) {
        this.end()
        this.#finishIfDone()
        return
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #arrived(segment: Segment): void {
    if (segment.kind === 'bytes') this.#unread.push(segment.bytes)
    else if (segment.kind === 'end') this.#peerEnded = true
    else if (segment.kind === 'read') {
      this.#onTheWay -= segment.count
      this.#transmit()
    } else if (segment.kind === 'damaged') {
      this.#socket.reset()
      this.#finish({ how: 'lost', why: 'what arrived cannot be deciphered' })
    }
    this.#wake()
  }

  #transmit(): void {
    for (let first = this.#unsent[0]; first !== undefined && this.#onTheWay <= FULL_BYTES; first = this.#unsent[0]) {
      const size = 1 + below(this.#random, Math.min(first.length, LARGEST_PIECE_BYTES))
      this.#socket.send({ kind: 'bytes', bytes: first.subarray(0, size) })
      if (size === first.length) this.#unsent.shift()
      else this.#unsent[0] = first.subarray(size)
      this.#unsentBytes -= size
      this.#onTheWay += size
    }
    if (this.#unsentBytes <= COMFORTABLE_BYTES) {
      this.#room?.resolve()
      this.#room = undefined
    }
    if (this.#isEnding && this.#unsentBytes === 0 && !this.#hasEnded) {
      this.#hasEnded = true
      this.#socket.send({ kind: 'end' })
    }
    this.#finishIfDone()
  }

  #finishIfDone(): void {
    if (!this.#hasEnded || !this.#peerEnded || this.#unread.length > 0 || this.#end !== undefined) return
    this.#socket.finish()
    this.#finish({ how: 'ended', why: 'both sides were done' })
  }

  #finish(end: LinkEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#unread.length = 0
    this.#unsent.length = 0
    this.#room?.reject(new LinkClosed(end))
    this.#wake()
    this.#close(end)
  }

  #presentEnd(): LinkEnd {
    return this.#end ?? { how: 'ended', why: 'this side was done' }
  }
}

export type LinkOptions = { readonly random: Random; readonly mostUnsentBytes: number }

function refused(cause: Error): Promise<void> {
  const promise = Promise.reject(cause)
  promise.catch(() => {})
  return promise
}
