// One request on its connection: reads its body within its limits, hands plain data to the core, writes what comes
// back.
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

export type RequestHandler = (request: WireRequest) => Promise<WireResponse>
/** What answers. `takesStream` says that the body of a request is handed on as it comes, with no limit to its size. */
export type Service = {
  readonly handle: RequestHandler
  /** Of the thread. */
  readonly endOfTick: EndOfTickQueue
  readonly takesStream: (method: string, rawPath: string) => boolean
  /** Names in lower case of the request headers that are recorded. */
  readonly auditedHeaders?: () => readonly string[]
  /** Of those that some mount passes on to its engine. */
  readonly passedHeaders?: () => readonly string[]
  /** Counts what goes in and out; missing: nobody does. */
  readonly traffic?: Traffic
  /** Who sends a large body is looked for while it comes; missing: everybody is known. */
  readonly hasLiveToken?: (headers: WireHeaders, remoteAddress: string) => boolean | Promise<boolean>
}
export type Traffic = {
  readonly opened: () => void
  readonly closed: () => void
  readonly received: (bodyBytes: number) => void
  readonly sent: (bodyBytes: number) => void
}

/** What all connections of the listener have in common. */
export type RequestParts = Service &
  BodyParts & {
    readonly turns: ConnectionQueue
    /** Of the time until the answer, until that is taken, and until its end; `reads`: to the end of the body. */
    readonly works: DeadlineQueue
    readonly writes: DeadlineQueue
    readonly lingers: DeadlineQueue
    /** Connections that carry no further answer. */
    readonly ended: WeakSet<IncomingMessage['socket']>
    readonly headersFor: HeadersFor
    readonly isTls: boolean
    readonly switches: ListenerSwitches | undefined
    /** The address that a request counts as coming from. @throws Refusal */
    readonly addressOf: (socket: IncomingMessage['socket'], headers: HeaderSource) => string
    /** Whether further requests are taken; else each connection ends with its answer. */
    readonly isOpen: () => boolean
  }

/** Who asks, as far as the headers say. */
export type Origin = { readonly headers: WireHeaders; readonly remoteAddress: string }

/** @throws Refusal */
export function originOf(parts: RequestParts, socket: IncomingMessage['socket'], source: HeaderSource): Origin {
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

export function serve(incoming: IncomingMessage, outgoing: ServerResponse, parts: RequestParts): void {
  const { limits } = parts
  if (parts.ended.has(incoming.socket)) {
    incoming.resume()
    return
  }
  // The parser takes nothing that came behind such a request with it: who sent more is told to send it again.
  if (asksForUpgrade(incoming)) outgoing.shouldKeepAlive = false
  const turn = parts.turns.take(incoming, outgoing)
  const fault = faultOf(incoming)
  if (fault !== undefined) {
    refuse(turn, fault, parts)
    return
  }
  let origin: Origin
  try {
    origin = originOf(parts, incoming.socket, incoming.headers)
  } catch (cause) {
    refuse(turn, cause instanceof Refusal ? cause : fail('internal', [], cause), parts)
    return
  }
  if (parts.takesStream(incoming.method ?? '', pathOf(incoming))) {
    const body = new RequestStream(incoming, parts.reads)
    outgoing.once('finish', () => body.drop())
    run(turn, origin, body, parts)
    return
  }
  const { headers } = incoming
  if (isTooLarge(incoming, limits)) refuse(turn, fail('body_too_large', [limits.maxRequestBytes]), parts)
  else if (incoming.httpVersionMajor < 1) refuse(turn, fail('malformed_http', []), parts)
  else if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    run(turn, origin, undefined, parts)
  } else collect(turn, origin, parts)
}

function collect(turn: PipelinedRequest, origin: Origin, parts: RequestParts): void {
  const { incoming } = turn
  const sender = {
    address: origin.remoteAddress,
    hasLiveToken: () => parts.hasLiveToken?.(origin.headers, origin.remoteAddress) ?? true,
  }
  readBody(turn, sender, parts, {
    whole: (body, release) => {
      const hold = release === undefined ? undefined : new BodyHold(turn, release)
      run(turn, origin, body, parts, hold)
    },
    cut: () => {
      endBehind(turn, parts)
      // The answer is still to be found, and what comes behind meanwhile is not to be carried out.
      parts.ended.add(incoming.socket)
      run(turn, origin, 'cut', parts)
    },
    refused: (refusal) => refuse(turn, refusal, parts),
  })
}

/** The body is not kept: the connection ends with the answer. */
export function refuse(
  { incoming, outgoing }: Pick<PipelinedRequest, 'incoming' | 'outgoing'>,
  refusal: Refusal,
  parts: RequestParts,
): void {
  endBehind({ incoming, outgoing }, parts)
  write(outgoing, refusalResponse(refusal), incoming.method === 'HEAD', parts)
}

/** The answer is the last of its connection, and what still comes is thrown away. */
function endBehind({ incoming, outgoing }: Pick<PipelinedRequest, 'incoming' | 'outgoing'>, parts: RequestParts): void {
  outgoing.shouldKeepAlive = false
  if (!incoming.complete) linger(incoming, parts.ended, parts.lingers)
  incoming.on('error', () => outgoing.destroy())
  incoming.on('data', letGo)
}

/**
 * A connection that is closed while its client still sends is reset, and the answer lost on the way: so our side ends
 * first, and what still comes is thrown away for a while (RFC 9112 section 9.6): while `lingers` lets it, or, without,
 * as long as the body itself may take.
 */
function linger(incoming: IncomingMessage, ended: RequestParts['ended'], lingers: DeadlineQueue | undefined): void {
  const { socket } = incoming
  const drop = (): void => {
    socket.destroy()
  }
  const destroySoon = socket.destroySoon.bind(socket)
  // What node:http calls when the last answer is sent.
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
  turn: PipelinedRequest,
  origin: Origin,
  body: Buffer | RequestStream | 'cut' | undefined,
  parts: RequestParts,
  hold?: BodyHold,
): void {
  const { incoming, outgoing } = turn
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
  turn.start(() => {
    let isLate = false
    // A stream takes as long as its bytes take; it is bounded by its pauses.
    const deadline = isStream
      ? undefined
      : parts.works.add(() => {
          isLate = true
          refuse(turn, fail('request_took_too_long', []), parts)
        })
    return parts.handle(request).then(
      (response) => {
        hold?.handled()
        if (isLate) return
        parts.works.remove(deadline)
        return answer(turn, isStream ? body : undefined, response, parts)
      },
      // The core answers every failure itself; what is left is a connection that cannot be written to.
      () => {
        hold?.handled()
        parts.works.remove(deadline)
        outgoing.destroy()
      },
    )
  })
}

/** Resolves when the answer is written. */
function answer(
  turn: PipelinedRequest,
  body: RequestStream | undefined,
  response: WireResponse,
  parts: RequestParts,
): Promise<void> {
  const { incoming, outgoing } = turn
  return new Promise((resolve) => {
    parts.endOfTick.add('answer', () => {
      // What was not read of a stream would stand before the next request.
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

/** RFC 9110 section 15: answers with these have no body, whoever asks for them. */
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
