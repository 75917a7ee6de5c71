// The one way out of this process: requests to origins that the configuration names, limited in time and size.
// Redirects are not followed, and proxies of the environment are not used.
import { lookup } from 'node:dns'
import type { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { Agent, request as requestHttp } from './node-http.ts'
import { isOwnNetwork } from './own-network.ts'

/** A request to be made; `url` must be of a known origin. */
export type OutboundRequest = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly timeoutMs: number
  /** A longer answer is refused; missing: 1 MiB. */
  readonly maxAnswerBytes?: number
  /** Keeps the connection for later requests. Up to MOST_CONNECTIONS are open to an origin, and 4 are kept idle. */
  readonly keepsConnection?: boolean
}
/** An answer of any status, read to its end. Names of headers are in lower case. */
export type OutboundResponse = { readonly status: number; readonly headers: Map<string, string>; readonly body: Buffer }

/** The network as rooms are handed it, so that tests can replace it. */
export interface Outbound {
  request(request: OutboundRequest): Promise<OutboundResponse>
}

/** The part of the timers of world.ts that a time limit needs. */
type Timers = { after(delayMs: number, work: () => void): { cancel(): void } }

/** The request was not made, or its answer exceeded a limit. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  /** 'origin': no request may go there. 'time' and 'size': the limit that was exceeded. */
  readonly reason: 'origin' | 'time' | 'size'
  constructor(reason: OutboundError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** An origin that requests may go to. */
export type Reach = {
  /** `http://host:port`, as URL writes it. */
  readonly origin: string
  /** PEM certificates that the server's certificate must lead to, instead of the usual authorities. */
  readonly ca?: string
  /** The origin lies in the internet: a name that leads to this machine or its link is refused (L-11). */
  readonly isPublic?: boolean
}

const MAX_ANSWER_BYTES = 1 << 20
/** Connections to one origin at once. A request that waits for one does so within its time limit. */
export const MOST_CONNECTIONS = 128

/** Returns an Outbound that reaches these origins; requests to any other are refused with OutboundError. */
export function outboundTo(reaches: readonly (string | Reach)[], timers: Timers): Outbound {
  const known = new Map(
    reaches.map((each) => (typeof each === 'string' ? { origin: each } : each)).map((each) => [each.origin, each]),
  )
  const agents = new Map<string, HttpAgent | HttpsAgent>()
  /** One agent for each origin: connections are kept between requests. */
  const agentOf = (reach: Reach): HttpAgent | HttpsAgent => {
    const found = agents.get(reach.origin)
    if (found !== undefined) return found
    const options = { keepAlive: true, maxSockets: MOST_CONNECTIONS, maxFreeSockets: 4, scheduling: 'lifo' as const }
    const agent = reach.origin.startsWith('https:')
      ? new HttpsAgent({ ...options, ...(reach.ca === undefined ? {} : { ca: reach.ca }) })
      : new Agent(options)
    agents.set(reach.origin, agent)
    return agent
  }
  return {
    request: async (request) => {
      const url = new URL(request.url)
      const reach = known.get(url.origin)
      if (reach === undefined) throw new OutboundError('origin', 'The origin is not among those of the configuration')
      return send(url, request, timers, {
        agent: request.keepsConnection === true ? agentOf(reach) : false,
        ...(reach.ca === undefined ? {} : { ca: reach.ca }),
        ...(reach.isPublic === true ? { lookup: publicLookup } : {}),
      })
    },
  }
}

/** Resolves a name, and refuses it if it leads to an address of this machine or of its link. */
const publicLookup: LookupFunction = (host, options, done) => {
  lookup(host, options, (cause, address, family) => {
    const found = Array.isArray(address) ? address.map((each) => each.address) : [address]
    if (cause === null && found.some(isOwnNetwork))
      return done(new OutboundError('origin', 'The name of the origin leads to an address of this machine'), '', 0)
    done(cause, address as string, family)
  })
}

type ConnectionOptions = {
  readonly agent: HttpAgent | HttpsAgent | false
  readonly ca?: string
  readonly lookup?: LookupFunction
}

function send(
  url: URL,
  { method, headers, body, timeoutMs, maxAnswerBytes = MAX_ANSWER_BYTES }: OutboundRequest,
  timers: Timers,
  connection: ConnectionOptions,
): Promise<OutboundResponse> {
  const start = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = start(url, { method, headers: { ...headers, 'Content-Length': body?.length ?? 0 }, ...connection })
    const deadline = timers.after(timeoutMs, () => sent.destroy(new OutboundError('time', 'The answer took too long')))
    const fail = (cause: Error): void => {
      deadline.cancel()
      reject(cause)
    }
    sent.on('error', fail)
    sent.on('response', (answer) => {
      const chunks: Buffer[] = []
      let size = 0
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > maxAnswerBytes) sent.destroy(new OutboundError('size', 'The answer is too large'))
        else chunks.push(chunk)
      })
      answer.on('error', fail)
      answer.on('end', () => {
        deadline.cancel()
        const named = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const)
        resolve({ status: answer.statusCode ?? 0, headers: new Map(named), body: Buffer.concat(chunks) })
      })
    })
    sent.end(body)
  })
}
