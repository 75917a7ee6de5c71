// Serves one request of a connection: reads its body within the limits, hands plain data to the core, and writes the
// answer.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { fail, Refusal } from '../api/errors.ts'
import type { ListenerSwitches } from '../api/request.ts'
import type { WireHeaders, WireRequest, WireResponse } from '../core/exchange.ts'
import { refusalResponse } from '../core/response.ts'
import type { EndOfTickQueue } from '../lib/end-of-tick-queue.ts'
import { letGo } from '../lib/let-go.ts'
import { BodyHold } from './body-hold.ts'
import { type BodyParts, readBody } from './body-reading.ts'
import type { ConnectionQueue, PipelinedRequest } from './connection-queue.ts'
import type { DeadlineQueue } from './deadlines.ts'
import { type HeaderSource, wireHeaders } from './headers.ts'
import { asksForUpgrade, faultOf, isTooLarge } from './heads.ts'
import { type HeadersFor, withOurs } from './response-headers.ts'
import { isSameOrigin } from './same-origin.ts'
import { RequestStream, sendStream } from './streams.ts'

/** The core: answers every request, refusals and defects included, and does not reject. */
export type RequestHandler = (request: WireRequest) => Promise<WireResponse>
/**
 * The services that a thread offers its listeners. `takesStream` tells whether the body of a request is handed on as it
 * arrives, with no limit of its size.
 */
export type Service = {
  readonly handle: RequestHandler
  /** The queue of the thread; answers of one tick are written together. */
  readonly endOfTick: EndOfTickQueue
  readonly takesStream: (method: string, rawPath: string) => boolean
  /** Request headers to record, by names in lower case. */
  readonly auditedHeaders?: () => readonly string[]
  /** Request headers that some mount passes on to its engine, by names in lower case. */
  readonly passedHeaders?: () => readonly string[]
  /** Counts connections and bytes; missing: they are not counted. */
  readonly traffic?: Traffic
  /** Checks the token of a large body while it arrives; missing: every caller counts as known. */
  readonly hasLiveToken?: (headers: WireHeaders, remoteAddress: string) => boolean | Promise<boolean>
}
/** Counters of connections and of body bytes. */
export type Traffic = {
  readonly opened: () => void
  readonly closed: () => void
  readonly received: (bodyBytes: number) => void
  readonly sent: (bodyBytes: number) => void
}

/** Everything that the connections of a listener share. */
export type RequestParts = Service &
  BodyParts & {
    readonly queue: ConnectionQueue
    /**
     * Deadlines for the answer, for the client to take it, and for its lingering; `reads` is for the end of the body.
     */
    readonly works: DeadlineQueue
    readonly writes: DeadlineQueue
    readonly lingers: DeadlineQueue
    /** Connections that carry no further answer: what still arrives on them is dropped. */
    readonly ended: WeakSet<IncomingMessage['socket']>
    readonly headersFor: HeadersFor
    readonly isTls: boolean
    readonly switches: ListenerSwitches | undefined
    /** Returns the address that a request counts as coming from. @throws Refusal */
    readonly addressOf: (socket: IncomingMessage['socket'], headers: HeaderSource) => string
    /** True while further requests are accepted; otherwise each connection ends with its answer. */
    readonly isOpen: () => boolean
  }

/** The caller, as far as headers and address tell. */
export type RequestOrigin = { readonly headers: WireHeaders; readonly remoteAddress: string }

/**
 * Reads the headers and finds the client's address.
 * @throws Refusal for a token that is too long, or a bad forwarding header
 */
export function originOf(parts: RequestParts, socket: IncomingMessage['socket'], source: HeaderSource): RequestOrigin {
  const headers = wireHeaders(source, parts.auditedHeaders?.(), parts.passedHeaders?.())
  const { maxTokenBytes } = parts.limits
  if (headers.token !== undefined && headers.token.length > maxTokenBytes) {
    throw fail('token_too_large', [maxTokenBytes])
  }
  const page = headers.origin === undefined ? undefined : { isSameOrigin: isSameOrigin(source, parts.isTls) }
  return {
    headers: page === undefined ? headers : { ...headers, ...page },
    remoteAddress: parts.addressOf(socket, source),
  }
}

/**
 * Serves one request from its head on: checks the head, then reads the body or hands it on as a stream. Every path ends
 * in exactly one answer or the end of the connection.
 */
export function serve(incoming: IncomingMessage, outgoing: ServerResponse, parts: RequestParts): void {
  const { limits } = parts
  if (parts.ended.has(incoming.socket)) {
    incoming.resume()
    return
  }
  // The parser drops whatever followed such a request in its packet: a client that sent more is told to send it again.
  if (asksForUpgrade(incoming)) outgoing.shouldKeepAlive = false
  const pipelined = parts.queue.take(incoming, outgoing)
  const fault = faultOf(incoming)
  if (fault !== undefined) {
    refuse(pipelined, fault, parts)
    return
  }
  let origin: RequestOrigin
  try {
    origin = originOf(parts, incoming.socket, incoming.headers)
  } catch (cause) {
    refuse(pipelined, cause instanceof Refusal ? cause : fail('internal', [], cause), parts)
    return
  }
  if (parts.takesStream(incoming.method ?? '', pathOf(incoming))) {
    const body = new RequestStream(incoming, parts.reads)
    outgoing.once('finish', () => body.drop())
    run(pipelined, origin, body, parts)
    return
  }
  const { headers } = incoming
  if (isTooLarge(incoming, limits)) refuse(pipelined, fail('body_too_large', [limits.maxRequestBytes]), parts)
  else if (incoming.httpVersionMajor < 1) refuse(pipelined, fail('malformed_http', []), parts)
  else if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    run(pipelined, origin, undefined, parts)
  } else collect(pipelined, origin, parts)
}

function collect(pipelined: PipelinedRequest, origin: RequestOrigin, parts: RequestParts): void {
  const { incoming } = pipelined
  const sender = {
    address: origin.remoteAddress,
    hasLiveToken: () => parts.hasLiveToken?.(origin.headers, origin.remoteAddress) ?? true,
  }
  readBody(pipelined, sender, parts, {
    whole: (body, release) => {
      const hold = release === undefined ? undefined : new BodyHold(pipelined, release)
      run(pipelined, origin, body, parts, hold)
    },
    cut: () => {
      endBehind(pipelined, parts)
      // The answer takes time, and requests that arrive meanwhile on this connection must not be carried out.
      parts.ended.add(incoming.socket)
      run(pipelined, origin, 'cut', parts)
    },
    refused: (refusal) => refuse(pipelined, refusal, parts),
  })
}

/** Answers with a refusal, drops the body, and ends the connection: a rest of the body may still be on its way. */
export function refuse(
  { incoming, outgoing }: Pick<PipelinedRequest, 'incoming' | 'outgoing'>,
  refusal: Refusal,
  parts: RequestParts,
): void {
  endBehind({ incoming, outgoing }, parts)
  write(outgoing, refusalResponse(refusal), incoming.method === 'HEAD', parts)
}

/** Makes the answer the last one of its connection; whatever still arrives is dropped. */
function endBehind({ incoming, outgoing }: Pick<PipelinedRequest, 'incoming' | 'outgoing'>, parts: RequestParts): void {
  outgoing.shouldKeepAlive = false
  if (!incoming.complete) linger(incoming, parts.ended, parts.lingers)
  incoming.on('error', () => outgoing.destroy())
  incoming.on('data', letGo)
}

/**
 * Keeps a connection open while its client still sends. A connection closed earlier is reset, and the answer can be
 * lost on the way. So our side ends first, and whatever still arrives is dropped for a while (RFC 9112 section 9.6): as
 * long as `lingers` allows or, without it, as long as the body itself may take.
 */
function linger(incoming: IncomingMessage, ended: RequestParts['ended'], lingers: DeadlineQueue | undefined): void {
  const { socket } = incoming
  const drop = (): void => {
    socket.destroy()
  }
  const destroySoon = socket.destroySoon.bind(socket)
  // node:http calls this when the last answer was sent.
  socket.destroySoon = () => {
    if (incoming.complete) {
      destroySoon()
      return
    }
    ended.add(socket)
    socket.end()
    const deadline = lingers?.add(drop)
    incoming.once('end', drop)
    socket.once('close', () => lingers?.remove(deadline))
  }
}

function run(
  pipelined: PipelinedRequest,
  origin: RequestOrigin,
  body: Buffer | RequestStream | 'cut' | undefined,
  parts: RequestParts,
  hold?: BodyHold,
): void {
  const { incoming, outgoing } = pipelined
  const { switches } = parts
  if (Buffer.isBuffer(body)) parts.traffic?.received(body.length)
  const target = incoming.url ?? ''
  const question = target.indexOf('?')
  const isStream = body instanceof RequestStream
  const request: WireRequest = {
    method: incoming.method ?? '',
    rawPath: pathOf(incoming),
    query: question === -1 ? '' : target.slice(question + 1),
    ...origin,
    ...bodyPart(body),
    ...(switches === undefined ? {} : { listener: switches }),
  }
  pipelined.start(() => {
    let isLate = false
    // A stream takes as long as its bytes do; only its pauses are bounded.
    const deadline = isStream
      ? undefined
      : parts.works.add(() => {
          isLate = true
          refuse(pipelined, fail('request_took_too_long', []), parts)
        })
    return parts.handle(request).then(
      (response) => {
        hold?.handled()
        if (isLate) return
        parts.works.remove(deadline)
        return answer(pipelined, isStream ? body : undefined, response, parts)
      },
      // The core answers every failure itself, so what failed is the connection.
      () => {
        hold?.handled()
        parts.works.remove(deadline)
        outgoing.destroy()
      },
    )
  })
}

/** Queues the answer for the end of the tick; resolves when it is written. */
function answer(
  pipelined: PipelinedRequest,
  body: RequestStream | undefined,
  response: WireResponse,
  parts: RequestParts,
): Promise<void> {
  const { incoming, outgoing } = pipelined
  return new Promise((resolve) => {
    parts.endOfTick.add('answer', () => {
      // An unread rest of a stream would be taken for the next request.
      const isLeft = body !== undefined && !incoming.complete
      if (isLeft || !parts.isOpen()) outgoing.shouldKeepAlive = false
      if (isLeft) linger(incoming, parts.ended, body.wasRead ? undefined : parts.lingers)
      try {
        write(outgoing, response, incoming.method === 'HEAD', parts)
      } catch {
        outgoing.destroy()
      }
      resolve()
    })
  })
}

function bodyPart(
  body: Buffer | RequestStream | 'cut' | undefined,
): Pick<WireRequest, 'body' | 'stream' | 'isBodyCut'> {
  if (body === 'cut') return { body: undefined, isBodyCut: true }
  return body instanceof RequestStream ? { body: undefined, stream: body.stream } : { body }
}

function pathOf({ url = '' }: IncomingMessage): string {
  const question = url.indexOf('?')
  return question === -1 ? url : url.slice(0, question)
}

/** Statuses whose answers have no body (RFC 9110 section 15). */
const BODILESS_STATUSES = [204, 205, 304]
const NO_BODY = { 'Content-Length': 0 }

function write(outgoing: ServerResponse, response: WireResponse, headOnly: boolean, parts: RequestParts): void {
  const { status, body, headers, stream } = response
  const deadline = parts.writes.add(() => outgoing.destroy())
  if (deadline !== undefined) outgoing.once('close', () => parts.writes.remove(deadline))
  const all = withOurs(parts.headersFor(status), headers)
  if (stream !== undefined) {
    sendStream(outgoing, stream, { headOnly, headers: all })
    return
  }
  if (body === undefined || BODILESS_STATUSES.includes(status)) {
    const length = status === 204 ? {} : NO_BODY
    outgoing.writeHead(status, { 'Cache-Control': 'no-store', ...length, ...all })
    outgoing.end()
    return
  }
  const bytes = Buffer.byteLength(body)
  outgoing.writeHead(status, {
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json',
    'Content-Length': bytes,
    ...all,
  })
  if (headOnly) outgoing.end()
  else {
    outgoing.end(body)
    parts.traffic?.sent(bytes)
  }
}
