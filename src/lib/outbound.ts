// The one way out of this process: to origins that the configuration names, with a limit to time and size. Redirects
// are not followed, proxies of the environment are not used, and no connection is kept.
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Outbound, OutboundRequest, OutboundResponse, Timers } from './world.ts'

export class OutboundError extends Error {
  override name = 'OutboundError'
}

const MAX_ANSWER_BYTES = 1 << 20

/** `origins`: `http://host:port`, as URL writes them. Every other is refused with OutboundError. */
export function outboundTo(origins: readonly string[], timers: Timers): Outbound {
  return {
    request: async (request) => {
      const url = new URL(request.url)
      if (!origins.includes(url.origin)) throw new OutboundError('The origin is not among those of the configuration')
      return send(url, request, timers)
    },
  }
}

function send(
  url: URL,
  { method, headers, body, timeoutMs }: OutboundRequest,
  timers: Timers,
): Promise<OutboundResponse> {
  const start = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = start(url, { method, headers: { ...headers, 'Content-Length': body?.length ?? 0 }, agent: false })
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
        if (size > MAX_ANSWER_BYTES) sent.destroy(new OutboundError('The answer is too large'))
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
