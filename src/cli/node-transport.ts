// The transport of the command line. It uses node:http and not `fetch`, for certificates from files and for bodies of
// any number of bytes.
import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import type { HttpReply, HttpRequest, Transport } from '../client/wire.ts'
import { request as httpRequest } from '../lib/node-http.ts'
import type { TlsSettings } from './connection.ts'
import { ANSWER_TOO_LARGE } from './remote-error.ts'

/** A body of `bytes` bytes exactly: the number is sent before the first of them. */
export type Upload = { readonly bytes: number; readonly stream: AsyncIterable<Buffer> }

/** Settings that all requests of a connection share. */
export type NodeLimits = {
  readonly tls: TlsSettings
  /** Longest silence on the connection. */
  readonly idleMs: number
}

/** Twice the largest request that the server takes by default: no answer to one is larger. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** Makes single attempts; redirects are not followed. Rejects with a system error or the code ANSWER_TOO_LARGE. */
export function nodeTransport(limits: NodeLimits): Transport {
  return (request) =>
    new Promise((resolve, reject) => {
      let answered = false
      const length = request.body === undefined ? undefined : Buffer.byteLength(request.body)
      const sent = send(request, optionsOf(request, limits, length), (response) => {
        answered = true
        readReply(response).then(resolve, reject)
      })
      // A server that refuses early stops reading, and sending then breaks: the answer is what counts.
      sent.on('error', (error) => {
        if (!answered) reject(error)
      })
      sent.end(request.body)
    })
}

/** Resolves with the head of the answer. A server that refuses answers before it has read the whole body. */
export function startStream(
  request: HttpRequest,
  limits: NodeLimits,
  upload: Upload | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let source: Readable | undefined
    const sent = send(request, optionsOf(request, limits, upload?.bytes), (response) => {
      resolve(response)
      // The rest of the upload is not wanted any more: without this the file would be read on into a closed request.
      source?.destroy()
    })
    // After the head has come this does nothing: a promise settles once, and reading the answer fails by itself.
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

/** Reads the whole answer. Rejects with the code ANSWER_TOO_LARGE beyond the limit. */
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
    // No agent: every attempt has a connection of its own, which ends with it.
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
