// What the parser of node:http refuses. Among it are LIST and HELP, methods that it does not know: their heads are read
// here, strictly, and the connection ends with the answer. All else is told what is wrong with it.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { fail, type Refusal } from '../api/errors.ts'
import type { WireRequest, WireResponse } from '../core/exchange.ts'
import { refusalResponse } from '../core/response.ts'
import { beginsUnknownMethod, findHead, isHeadComplete, MAX_HEAD_BYTES, readHead } from './extension-method.ts'
import type { Turns } from './turns.ts'

export type ParserError = Error & { readonly code?: string; readonly rawPacket?: Buffer; readonly bytesParsed?: number }
type Answering = {
  readonly handle: (request: WireRequest) => Promise<WireResponse>
  readonly auditedHeaders?: (() => readonly string[]) | undefined
}

/** After that long without a byte, a client that does not close its side is cut off. */
const CLOSE_LIMIT_MS = 2_000

export class ParserErrors {
  readonly #turns: Turns
  readonly #service: Answering
  /** Heads of which the rest is still to come; the parser refuses each packet anew, so it arrives here. */
  readonly #unfinished = new WeakMap<Socket, Buffer>()
  /** Connections whose last answer is being made. */
  readonly #closing = new WeakSet<Socket>()

  constructor(turns: Turns, service: Answering) {
    this.#turns = turns
    this.#service = service
  }

  async answer(cause: ParserError, socket: Socket): Promise<void> {
    if (this.#closing.has(socket) || !socket.writable) {
      if (socket.writableFinished || socket.destroyed) socket.destroy()
      return
    }
    const head = this.#headOf(cause, socket)
    if (head !== undefined && !isHeadComplete(head) && head.length <= MAX_HEAD_BYTES) {
      this.#unfinished.set(socket, head)
      return
    }
    this.#closing.add(socket)
    socket.on('error', () => socket.destroy())
    await this.#turns.over(socket)
    const { handle, auditedHeaders } = this.#service
    const address = socket.remoteAddress ?? ''
    const request = head === undefined ? undefined : readHead(head, address, auditedHeaders?.())
    const refusal = head === undefined ? refusalOf(cause) : fail('malformed_http', [])
    closeWith(socket, request === undefined ? refusalResponse(refusal) : await handle(request))
  }

  /** What has come of a LIST or HELP; undefined where it is something else. */
  #headOf({ code, rawPacket, bytesParsed }: ParserError, socket: Socket): Buffer | undefined {
    if (code !== 'HPE_INVALID_METHOD' || rawPacket === undefined) return undefined
    const before = this.#unfinished.get(socket)
    return before === undefined ? findHead(rawPacket, bytesParsed ?? 0) : Buffer.concat([before, rawPacket])
  }
}

function refusalOf({ code, rawPacket, bytesParsed }: ParserError): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return fail('headers_too_large', [])
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fail('request_timeout', [])
  const isMethod =
    code === 'HPE_INVALID_METHOD' && rawPacket !== undefined && beginsUnknownMethod(rawPacket, bytesParsed ?? 0)
  return isMethod ? fail('method_not_allowed', []) : fail('malformed_http', [])
}

/** The last that the connection carries. */
export function closeWith(socket: Socket, { status, body = '', headers = {} }: WireResponse): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const all = {
    'Cache-Control': 'no-store',
    ...(body === '' ? {} : { 'Content-Type': 'application/json' }),
    'Content-Length': Buffer.byteLength(body),
    ...headers,
    Connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.setTimeout(CLOSE_LIMIT_MS, () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`)
}
