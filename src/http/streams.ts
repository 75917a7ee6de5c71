// Bodies that are not held in memory: what comes from the socket waits there until it is wanted, and what goes to it
// is asked for as the socket takes it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { ByteStream } from '../api/request.ts'

export class RequestStream {
  readonly stream: ByteStream
  readonly #incoming: IncomingMessage
  #isDropped = false

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming
    incoming.pause()
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          incoming.on('data', (chunk: Buffer) => {
            if (this.#isDropped) return
            // A copy: the memory of the chunk may be shared, and the stream may travel.
            controller.enqueue(new Uint8Array(chunk))
            incoming.pause()
          })
          incoming.on('end', () => {
            if (!this.#isDropped) controller.close()
          })
          incoming.on('error', (cause) => {
            if (!this.#isDropped) controller.error(cause)
            this.#isDropped = true
          })
          incoming.pause()
        },
        pull: () => {
          incoming.resume()
        },
        cancel: () => this.drop(),
      },
      { highWaterMark: 1 },
    )
  }

  /** What still comes is thrown away: the answer was given without it. */
  drop(): void {
    this.#isDropped = true
    this.#incoming.resume()
  }
}

/** The connection breaks where the stream fails: what is there then cannot be taken for the whole. */
export function sendStream(outgoing: ServerResponse, stream: ByteStream, headOnly: boolean): void {
  outgoing.writeHead(200, { 'Cache-Control': 'no-store', 'Content-Type': 'application/octet-stream' })
  if (headOnly) {
    outgoing.end()
    stream.cancel().catch(() => {})
    return
  }
  pipeline(Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]), outgoing, () => {})
}
