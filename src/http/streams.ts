// Bodies that are not held in memory: what comes from the socket waits there until it is wanted, and what goes to it
// is asked for as the socket takes it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { ByteStream } from '../api/request.ts'
import type { WireResponse } from '../core/exchange.ts'
import type { Deadline, DeadlineQueue } from './deadlines.ts'

export class RequestStream {
  readonly stream: ByteStream
  readonly #incoming: IncomingMessage
  readonly #pauses: DeadlineQueue
  /** While somebody waits for more: a reader that is slow itself is no pause of the sender. */
  #deadline: Deadline | undefined
  #isOver = false
  #wasRead = false

  /** The body has no size and takes any time, but may not pause for longer than `pauses` has it. */
  constructor(incoming: IncomingMessage, pauses: DeadlineQueue) {
    this.#incoming = incoming
    this.#pauses = pauses
    this.stream = new ReadableStream<Uint8Array>(
      { start: (controller) => this.#start(controller), pull: () => this.#pull(), cancel: () => this.drop() },
      // Nothing is taken from the socket for a caller who is refused.
      { highWaterMark: 0 },
    )
  }

  /** Somebody began to read it, so its sender was admitted. */
  get wasRead(): boolean {
    return this.#wasRead
  }

  /**
   * What still comes is thrown away: the answer was given without it. Who was admitted may send all of it, as before
   * with no pause that is too long: many clients send all before they read.
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
      // A copy: the memory of the chunk may be shared, and the stream may travel.
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
    // A caller that hangs up in between: the parser's complaint waits for the answer, and the answer for the body.
    const hungUp = (): void => {
      if (!incoming.complete) broken()
    }
    incoming.socket.once('end', hungUp)
    incoming.once('close', () => incoming.socket.off('end', hungUp))
    incoming.pause()
  }

  /** Called when somebody reads, so the caller was admitted. */
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

/** The connection breaks where the stream fails: what is there then cannot be taken for the whole. */
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
