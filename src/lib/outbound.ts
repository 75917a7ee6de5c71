// The one way out of this process: to origins that the configuration names, with a limit to time and size. Redirects
// are not followed, and proxies of the environment are not used.
import { lookup } from 'node:dns'
import type { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { Agent, request as requestHttp } from './node-http.ts'
import { isOwnNetwork } from './own-network.ts'

export type OutboundRequest = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly timeoutMs: number
  /** More of the answer is refused; missing: 1 MiB. */
  readonly maxAnswerBytes?: number
  /** The connection serves later requests too, of which each origin has 32 at most. */
  readonly keepsConnection?: boolean
}
export type OutboundResponse = { readonly status: number; readonly headers: Map<string, string>; readonly body: Buffer }

export interface Outbound {
  request(request: OutboundRequest): Promise<OutboundResponse>
}

/** Those of the world (world.ts), of which a time limit is all that is asked for. */
type Timers = { after(delayMs: number, work: () => void): { cancel(): void } }

export class OutboundError extends Error {
  override name = 'OutboundError'
}

/** Where a request may go. */
export type Reach = {
  /** `http://host:port`, as URL writes it. */
  readonly origin: string
  /** PEM certificates that its certificate must lead to, instead of the usual authorities. */
  readonly ca?: string
  /** It lies in the internet: an address of this machine or of its link is not it, whatever names say (L-11). */
  readonly isPublic?: boolean
}

const MAX_ANSWER_BYTES = 1 << 20
/** To one origin, at once: what waits for one waits within its time limit. */
export const MOST_CONNECTIONS = 128

/** Every origin but these is refused with OutboundError. */
export function outboundTo(reaches: readonly (string | Reach)[], timers: Timers): Outbound {
  const known = new Map(
    reaches.map((each) => (typeof each === 'string' ? { origin: each } : each)).map((each) => [each.origin, each]),
  )
  const agents = new Map<string, HttpAgent | HttpsAgent>()
  /** One for each origin: its connections are kept between requests. */
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
      if (reach === undefined) throw new OutboundError('The origin is not among those of the configuration')
      return send(url, request, timers, {
        agent: request.keepsConnection === true ? agentOf(reach) : false,
        ...(reach.ca === undefined ? {} : { ca: reach.ca }),
        ...(reach.isPublic === true ? { lookup: publicLookup } : {}),
      })
    },
  }
}

/** Finds no address that belongs to this machine or to its link. */
const publicLookup: LookupFunction = (host, options, done) => {
  lookup(host, options, (cause, address, family) => {
    const found = Array.isArray(address) ? address.map((each) => each.address) : [address]
    if (cause === null && found.some(isOwnNetwork))
      return done(new OutboundError('The name of the origin leads to an address of this machine'), '', 0)
    done(cause, address as string, family)
  })
}

type Way = { readonly agent: HttpAgent | HttpsAgent | false; readonly ca?: string; readonly lookup?: LookupFunction }

function send(
  url: URL,
  { method, headers, body, timeoutMs, maxAnswerBytes = MAX_ANSWER_BYTES }: OutboundRequest,
  timers: Timers,
  way: Way,
): Promise<OutboundResponse> {
  const start = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = start(url, { method, headers: { ...headers, 'Content-Length': body?.length ?? 0 }, ...way })
    const deadline = timers.after(timeoutMs, () => sent.destroy(new OutboundError('The answer took too long')))
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
        if (size > maxAnswerBytes) sent.destroy(new OutboundError('The answer is too large'))
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
