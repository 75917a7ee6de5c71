// How the command line sends: over node:http, which knows certificates of files and bodies of any number of bytes.
import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import type { HttpReply, HttpRequest, Transport } from '../client/wire.ts'
import { request as httpRequest } from '../lib/node-http.ts'
import type { TlsSettings } from './connection.ts'
import { ANSWER_TOO_LARGE } from './remote-error.ts'

export type Upload = { readonly bytes: number; readonly stream: AsyncIterable<Buffer> }

export type NodeLimits = {
  readonly tls: TlsSettings
  /** Longest silence on a connection. */
  readonly idleMs: number
}

/** The largest request the server takes by default, twice: no answer to it is larger. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** One attempt, and no redirect followed. Rejects with the error of the system, or ANSWER_TOO_LARGE. */
export function nodeTransport(limits: NodeLimits): Transport {
  return (request) =>
    new Promise((resolve, reject) => {
      let answered = false
      const length = request.body === undefined ? undefined : Buffer.byteLength(request.body)
      const sent = send(request, optionsOf(request, limits, length), (response) => {
        answered = true
        readReply(response).then(resolve, reject)
      })
      // A server that refuses early stops reading: what then breaks is the sending, and the answer is what counts.
      sent.on('error', (error) => {
        if (!answered) reject(error)
      })
      sent.end(request.body)
    })
}

/** Resolves with the head of the answer, though the body of the request may not have been sent to its end. */
export function startStream(
  request: HttpRequest,
  limits: NodeLimits,
  upload: Upload | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let source: Readable | undefined
    const sent = send(request, optionsOf(request, limits, upload?.bytes), (response) => {
      resolve(response)
      source?.destroy()
    })
    sent.on('error', reject)
    if (upload === undefined) {
      sent.end()
      return
    }
    source = Readable.from(upload.stream)
    source.on('error', (error) => sent.destroy(error))
    source.pipe(sent)
  })
}

/** The whole answer. */
export async function readReply(response: IncomingMessage): Promise<HttpReply> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw Object.assign(new Error('Answer too large'), { code: ANSWER_TOO_LARGE })
    chunks.push(chunk)
  }
  return {
    status: response.statusCode ?? 0,
    location: response.headers.location,
    retryAfter: response.headers['retry-after'],
    text: Buffer.concat(chunks).toString('utf8'),
  }
}

function optionsOf(
  { method, headers }: HttpRequest,
  limits: NodeLimits,
  bodyBytes: number | undefined,
): RequestOptions {
  return {
    method,
    agent: false,
    timeout: limits.idleMs,
    headers: { ...headers, ...(bodyBytes === undefined ? {} : { 'Content-Length': bodyBytes }) },
    ...limits.tls,
  }
}

function send({ url }: HttpRequest, options: RequestOptions, answered: (response: IncomingMessage) => void) {
  const sent = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, answered)
  sent.on('timeout', () => {
    sent.destroy(Object.assign(new Error('No byte for too long'), { code: 'ETIMEDOUT' }))
  })
  return sent
}
