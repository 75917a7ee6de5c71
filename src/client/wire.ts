// The rules of HTTP that every client of the API follows: headers, repetition, redirects. The command line and the
// library share them; each brings its own transport.
import { isLocked, isSealed, mayBeDone, messagesOf, parseAnswerBody } from './error-messages.ts'
import { encodePath } from './path.ts'

/** The methods that requests have. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The server, the token, and the settings that all requests to it share. */
export type ApiAddress = {
  /** Scheme, host and port, and a path that a proxy wants in front of /v1; without a slash at the end. */
  readonly address: string
  readonly token?: string | undefined
  /** Its whole path, like `team/a`; empty is the root. */
  readonly namespace?: string | undefined
  /** Seconds, or a duration such as `5m`: the answer comes wrapped, and this is the lifetime of its token. */
  readonly wrapTtl?: string | undefined
  /** Further headers, as proxies demand them. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** One request of the API. */
export type ApiCall = {
  readonly method: Method
  /** A clean path below /v1, not escaped. */
  readonly path: string
  readonly query?: readonly (readonly [name: string, value: string])[] | undefined
  /** JSON text. */
  readonly body?: string | undefined
}

/** A request as a transport sends it. */
export type HttpRequest = {
  readonly method: Method
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}
/** An answer as a transport gives it: status, body, and the two headers that decide what is done next. */
export type HttpReply = {
  readonly status: number
  /** The header Location. */
  readonly location: string | undefined
  /** The header Retry-After. */
  readonly retryAfter: string | undefined
  readonly text: string
}

/** Makes one attempt and follows no redirect. Rejects if no answer came. */
export type Transport = (request: HttpRequest) => Promise<HttpReply>

/** Rules for repetition. */
export type Retrying = {
  /** Further attempts after an answer that may pass. */
  readonly retries: number
  readonly pause: (delayMs: number) => Promise<void>
  /** True by default. */
  readonly followsRedirects?: boolean
}

/** The server names an address that must not be followed. */
export class Misdirected extends Error {
  override name = 'Misdirected'
}

/** The reference's clients wait between these two. */
const FIRST_DELAY_MS = 1_000
const LATER_DELAY_MS = 1_500
/** The longest wait that a server may ask for. */
const MOST_DELAY_MS = 30_000
const REDIRECTS = [301, 302, 307, 308]

/** RFC 7396. The API takes a PATCH in no other form. */
const MERGE_PATCH = 'application/merge-patch+json'
/**
 * Paths that ask about the server itself. The namespace is left off, as clients of the reference do: it has nothing to
 * do with the answer, and a server that is sealed knows of none. `sys/seal` is not among them: a wish to close one
 * namespace must not close the server.
 */
const OF_THE_SERVER = ['sys/health', 'sys/ha-status', 'sys/init', 'sys/leader', 'sys/seal-status', 'sys/unseal']

/** Returns the URL of a path without its query, so that it may stand in messages. */
export function urlOf({ address }: ApiAddress, path: string): string {
  return `${address}/v1/${encodePath(path)}`
}

/** Makes the request of a call. Own headers come last, and so replace ours of the same name. */
export function httpRequest(server: ApiAddress, { method, path, query, body }: ApiCall): HttpRequest {
  const url = new URL(urlOf(server, path))
  for (const [name, value] of query ?? []) url.searchParams.append(name, value)
  const { token, namespace = '', wrapTtl, headers = [] } = server
  return {
    method,
    url,
    headers: {
      // Agents may require it (`require_request_header`): a page of another origin cannot send it unasked.
      'X-Vault-Request': 'true',
      ...(token === undefined ? {} : { 'X-Vault-Token': token }),
      ...(namespace === '' || OF_THE_SERVER.includes(path) ? {} : { 'X-Vault-Namespace': namespace }),
      ...(wrapTtl === undefined ? {} : { 'X-Vault-Wrap-TTL': wrapTtl }),
      ...(method === 'PATCH' ? { 'Content-Type': MERGE_PATCH } : {}),
      ...Object.fromEntries(headers),
    },
    body,
  }
}

/**
 * Sends a request, and again while the answer may pass. A request without an answer is not repeated, and a change of
 * which the answer does not say that nothing was done is not either: the server may have done it.
 * @throws Misdirected, or the error of the transport
 */
export async function exchange(transport: Transport, request: HttpRequest, retrying: Retrying): Promise<HttpReply> {
  for (let attempt = 1; ; attempt++) {
    const reply = await followed(transport, request, retrying.followsRedirects ?? true)
    if (attempt > retrying.retries || !isTransient(request, reply)) return reply
    await retrying.pause(delayMs(attempt, reply))
  }
}

/**
 * True if a later attempt may succeed. 412: this node has not caught up; 429: a limit; 5xx: a fault that may pass. 501
 * says "not initialised", and a full device (507, RFC 4918 section 11.5) needs an operator.
 */
function isTransient({ method }: HttpRequest, { status, text }: HttpReply): boolean {
  if (status !== 412 && status !== 429 && (status < 500 || status === 501 || status === 507)) return false
  const messages = messagesOf(parseAnswerBody(text))
  if (method !== 'GET' && mayBeDone(status, messages)) return false
  return !isSealed(status, messages) && !isLocked(status, messages)
}

/** Waits as long as the server asks, within bounds: a wrong header must not stop a program for days. */
function delayMs(attempt: number, { retryAfter }: HttpReply): number {
  const usual = attempt === 1 ? FIRST_DELAY_MS : LATER_DELAY_MS
  const asked = retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : 0
  return Math.min(Math.max(usual, asked), MOST_DELAY_MS)
}

/**
 * Follows one redirect, with method, body and token: a standby that does not forward names the active node so. A second
 * redirect is returned as the answer: it would lead in a circle.
 */
async function followed(transport: Transport, request: HttpRequest, follows: boolean): Promise<HttpReply> {
  const reply = await transport(request)
  if (!follows || !REDIRECTS.includes(reply.status) || reply.location === undefined) return reply
  const url = parseUrl(reply.location, request.url)
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new Misdirected('the server points to an address that is none')
  }
  if (request.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new Misdirected('the server points from https to http, which would show the token')
  }
  return await transport({ ...request, url })
}

/** URL.parse would do the same, and is missing in Node.js 20. */
function parseUrl(text: string, base: URL): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
