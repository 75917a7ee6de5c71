// Bodies that are not held in memory. Incoming bytes stay in the socket until they are wanted; outgoing ones are asked
// for as the socket takes them.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { ByteStream } from '../api/request.ts'
import type { WireResponse } from '../core/exchange.ts'
import type { Deadline, DeadlineQueue } from './deadlines.ts'

/** The body of a request as a stream that can be handed to another thread. */
export class RequestStream {
  readonly stream: ByteStream
  readonly #incoming: IncomingMessage
  readonly #pauses: DeadlineQueue
  /** Set while a reader waits: a reader that is slow itself is no pause of the sender. */
  #deadline: Deadline | undefined
  #isOver = false
  #wasRead = false

  /** The body has no size and may take any time, but no pause longer than `pauses` allows. */
  constructor(incoming: IncomingMessage, pauses: DeadlineQueue) {
    this.#incoming = incoming
    this.#pauses = pauses
    this.stream = new ReadableStream<Uint8Array>(
      { start: (controller) => this.#start(controller), pull: () => this.#pull(), cancel: () => this.drop() },
      // Nothing is read from the socket for a caller that is refused.
      { highWaterMark: 0 },
    )
  }

  /** True once a reader began, so the caller was admitted. */
  get wasRead(): boolean {
    return this.#wasRead
  }

  /**
   * Drops whatever still arrives: the answer was given without it. An admitted caller may send all of it, with the same
   * bound on pauses, since many clients send everything before they read.
   */
  drop(): void {
    this.#finish()
    if (this.#wasRead && !this.#incoming.complete) this.#watch()
    this.#incoming.resume()
  }

  #start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const incoming = this.#incoming
    incoming.on('data', (chunk: Buffer) => {
      this.#arrived()
      if (this.#isOver) {
        if (this.#wasRead) this.#watch()
        return
      }
      // A copy, since the chunk may share its memory and the stream may go to another thread.
      controller.enqueue(new Uint8Array(chunk))
      incoming.pause()
    })
    incoming.on('end', () => {
      if (!this.#isOver) controller.close()
      this.#finish()
    })
    const broken = (): void => {
      if (!this.#isOver) controller.error(new Error('The connection ended before the body did'))
      this.#finish()
    }
    incoming.on('error', broken)
    incoming.on('close', broken)
    // A caller that hangs up midway: the parser's error waits for the answer, and the answer for the body.
    const hungUp = (): void => {
      if (!incoming.complete) broken()
    }
    incoming.socket.once('end', hungUp)
    incoming.once('close', () => incoming.socket.off('end', hungUp))
    incoming.pause()
  }

  /** Called when a reader wants more, so the caller was admitted. */
  #pull(): void {
    this.#wasRead = true
    if (!this.#isOver) this.#watch()
    this.#incoming.resume()
  }

  #watch(): void {
    this.#deadline ??= this.#pauses.add(() => this.#incoming.destroy())
  }

  #arrived(): void {
    this.#pauses.remove(this.#deadline)
    this.#deadline = undefined
  }

  #finish(): void {
    this.#arrived()
    this.#isOver = true
  }
}

/**
 * Sends a stream as the answer. If the stream fails the connection is cut, so the client cannot take a part for the
 * whole.
 */
export function sendStream(
  outgoing: ServerResponse,
  stream: ByteStream,
  { headOnly, headers }: { readonly headOnly: boolean; readonly headers: WireResponse['headers'] },
): void {
  outgoing.writeHead(200, { 'Cache-Control': 'no-store', 'Content-Type': 'application/octet-stream', ...headers })
  if (headOnly) {
    outgoing.end()
    stream.cancel().catch(() => {})
    return
  }
  pipeline(Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]), outgoing, () => {})
}
