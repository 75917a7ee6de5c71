// The rules of HTTP that every client of the API follows: headers, repetition, redirects. The command line and the
// library share them; each brings its own transport.
import { isSealed, messagesOf, parseAnswerBody } from './error-messages.ts'
import { encodePath } from './path.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Where requests go and in whose name. */
export type ApiAddress = {
  /** Scheme, host and port, and what a proxy wants in front of /v1; without a slash at the end. */
  readonly address: string
  readonly token?: string | undefined
  readonly namespace?: string | undefined
  /** Seconds or a duration such as `5m`: the answer comes wrapped, under a token that lives so long. */
  readonly wrapTtl?: string | undefined
  /** Further ones, as proxies demand them. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** One request of the API. */
export type ApiCall = {
  readonly method: Method
  /** Clean, below /v1. */
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
export type HttpReply = {
  readonly status: number
  /** The headers of these names. */
  readonly location: string | undefined
  readonly retryAfter: string | undefined
  readonly text: string
}

/** One attempt, no redirect followed. It rejects where no answer came. */
export type Transport = (request: HttpRequest) => Promise<HttpReply>

export type Retrying = {
  /** Further attempts after one that may pass: 412, 429 and 5xx but 501. */
  readonly retries: number
  readonly pause: (delayMs: number) => Promise<void>
  readonly followsRedirects?: boolean
}

/** The server names another address that must not be followed. */
export class Misdirected extends Error {
  override name = 'Misdirected'
}

const FIRST_DELAY_MS = 1_000
const LATER_DELAY_MS = 1_500
/** The longest wait that a server may ask for. */
const MOST_DELAY_MS = 30_000
const REDIRECTS = [301, 302, 307, 308]

/** Without the query, which may hold what the caller sent. */
export function urlOf({ address }: ApiAddress, path: string): string {
  return `${address}/v1/${encodePath(path)}`
}

export function httpRequest(place: ApiAddress, { method, path, query, body }: ApiCall): HttpRequest {
  const url = new URL(urlOf(place, path))
  for (const [name, value] of query ?? []) url.searchParams.append(name, value)
  const { token, namespace, wrapTtl, headers = [] } = place
  return {
    method,
    url,
    headers: {
      'X-Vault-Request': 'true',
      ...(token === undefined ? {} : { 'X-Vault-Token': token }),
      ...(namespace === undefined ? {} : { 'X-Vault-Namespace': namespace }),
      ...(wrapTtl === undefined ? {} : { 'X-Vault-Wrap-TTL': wrapTtl }),
      ...Object.fromEntries(headers),
    },
    body,
  }
}

/** Asks until trying again would change nothing. @throws Misdirected, or what the transport throws */
export async function exchange(transport: Transport, request: HttpRequest, retrying: Retrying): Promise<HttpReply> {
  for (let attempt = 1; ; attempt++) {
    const reply = await followed(transport, request, retrying.followsRedirects ?? true)
    if (attempt > retrying.retries || !isTransient(reply)) return reply
    await retrying.pause(delayMs(attempt, reply))
  }
}

/**
 * 412: this node has not caught up; 429: a limit; 5xx: whatever it is, it may pass. 501 says "not initialised"; a full
 * device (507, RFC 4918 section 11.5) waits for somebody to act.
 */
function isTransient({ status, text }: HttpReply): boolean {
  if (status !== 412 && status !== 429 && (status < 500 || status === 501 || status === 507)) return false
  return !isSealed(status, messagesOf(parseAnswerBody(text)))
}

function delayMs(attempt: number, { retryAfter }: HttpReply): number {
  const usual = attempt === 1 ? FIRST_DELAY_MS : LATER_DELAY_MS
  const asked = retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : 0
  return Math.min(Math.max(usual, asked), MOST_DELAY_MS)
}

/** A standby that does not forward names the active node: one redirect is followed, with method, body and token. */
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

function parseUrl(text: string, base: URL): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
