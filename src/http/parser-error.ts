// Answers what the parser of node:http refuses. LIST, SCAN and HELP are methods that it does not know: their requests
// are read here, strictly, and answered, and then the connection ends. Everything else gets a refusal that says what is
// wrong.
import type { Socket } from 'node:net'
import { fail, Refusal } from '../api/errors.ts'
import type { WireResponse } from '../core/exchange.ts'
import { refusalResponse } from '../core/response.ts'
import { STATUS_CODES } from '../lib/node-http.ts'
import { beginsUnknownMethod, ExtensionMessage, findHead } from './extension-method.ts'
import { originOf, type RequestParts } from './requests.ts'
import { type HeadersFor, withOurs } from './response-headers.ts'

/** The error of the parser, with the packet it failed in. `bytesParsed` is the position of the fault. */
export type ParserError = Error & { readonly code?: string; readonly rawPacket?: Buffer; readonly bytesParsed?: number }

/** Time without a byte after which a client that does not close its side is cut off. */
const CLOSE_LIMIT_MS = 2_000

/** Handles parser errors of all connections of a listener. */
export class ParserErrors {
  readonly #parts: RequestParts
  /** Requests whose rest is still to come: the parser fails on each packet anew, so the rest arrives here. */
  readonly #unfinished = new WeakMap<Socket, ExtensionMessage>()
  /** Connections whose last answer is on its way. */
  readonly #closing = new WeakSet<Socket>()

  constructor(parts: RequestParts) {
    this.#parts = parts
  }

  /** Answers one failed packet, after all earlier requests of the connection. Rejects only on a defect. */
  async answer(cause: ParserError, socket: Socket): Promise<void> {
    if (this.#closing.has(socket) || !socket.writable) {
      if (socket.writableFinished || socket.destroyed) socket.destroy()
      return
    }
    const read = this.#read(cause, socket)
    if (read === 'unfinished') return
    this.#closing.add(socket)
    socket.on('error', () => socket.destroy())
    await this.#parts.queue.over(socket)
    const response = read instanceof Refusal ? refusalResponse(read) : await this.#answerMessage(read, socket)
    closeWith(socket, response, this.#parts.headersFor)
  }

  async #answerMessage(message: ExtensionMessage, socket: Socket): Promise<WireResponse> {
    const { handle, switches, works } = this.#parts
    let onLate = (): void => {}
    const late = new Promise<WireResponse>((resolve) => {
      onLate = () => resolve(refusalResponse(fail('request_took_too_long', [])))
    })
    const deadline = works.add(() => onLate())
    try {
      const request = message.request((headers) => originOf(this.#parts, socket, headers))
      const whole = switches === undefined ? request : { ...request, listener: switches }
      return await Promise.race([handle(whole), late])
    } catch (cause) {
      if (cause instanceof Refusal) return refusalResponse(cause)
      throw cause
    } finally {
      works.remove(deadline)
    }
  }

  /** Returns the LIST, SCAN or HELP request if it is complete; a refusal if the packet is malformed, or none. */
  #read(cause: ParserError, socket: Socket): ExtensionMessage | 'unfinished' | Refusal {
    const { code, rawPacket, bytesParsed } = cause
    if (code !== 'HPE_INVALID_METHOD' || rawPacket === undefined) return refusalOf(cause)
    const before = this.#unfinished.get(socket)
    const part = before === undefined ? findHead(rawPacket, bytesParsed ?? 0) : rawPacket
    if (part === undefined) return refusalOf(cause)
    const message = before ?? new ExtensionMessage()
    try {
      if (message.add(part)) return message
    } catch (refusal) {
      if (refusal instanceof Refusal) return refusal
      throw refusal
    }
    this.#unfinished.set(socket, message)
    return 'unfinished'
  }
}

function refusalOf({ code, rawPacket, bytesParsed }: ParserError): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return fail('headers_too_large', [])
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fail('request_timeout', [])
  const isMethod =
    code === 'HPE_INVALID_METHOD' && rawPacket !== undefined && beginsUnknownMethod(rawPacket, bytesParsed ?? 0)
  return isMethod ? fail('method_not_allowed', []) : fail('malformed_http', [])
}

/** Writes the last answer of a connection, and ends it. */
export function closeWith(
  socket: Socket,
  { status, body = '', headers = {} }: WireResponse,
  headersFor: HeadersFor,
): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const all = {
    'Cache-Control': 'no-store',
    ...(body === '' ? {} : { 'Content-Type': 'application/json' }),
    'Content-Length': Buffer.byteLength(body),
    ...withOurs(headersFor(status), headers),
    Connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.setTimeout(CLOSE_LIMIT_MS, () => socket.destroy())
  socket.cork()
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`)
  socket.end(body)
}
