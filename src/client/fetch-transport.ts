// The transport of the library: `fetch`, as browsers and Node.js have it.
import type { HttpReply, HttpRequest, Transport } from './wire.ts'

/** The type of the global `fetch`, and of replacements for it. */
export type Fetch = typeof fetch
/** Limits of one request. */
export type FetchLimits = {
  /** The longest time of one attempt, its body included. */
  readonly timeoutMs: number
  /** Ends the request, whichever attempt it is at. */
  readonly signal?: AbortSignal | undefined
}

/** The attempt took longer than it may. */
export class TimedOut extends Error {
  override name = 'TimedOut'
}

/** Makes single attempts. They reject with TimedOut, with the reason of the signal, or with the error of `fetch`. */
export function fetchTransport(fetcher: Fetch, { timeoutMs, signal }: FetchLimits): Transport {
  return async (request) => {
    signal?.throwIfAborted()
    // `fetch` takes one signal: this one ends at the time limit or with the caller's, and its reason tells which.
    const abort = new AbortController()
    const give = (): void => abort.abort(signal?.reason)
    signal?.addEventListener('abort', give)
    const timer = setTimeout(() => abort.abort(new TimedOut(`No answer within ${timeoutMs} ms`)), timeoutMs)
    try {
      return await attempt(fetcher, request, abort.signal)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', give)
    }
  }
}

async function attempt(fetcher: Fetch, request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
  const { method, url, headers, body } = request
  const response = await fetcher(url, {
    method,
    headers: body === undefined ? { ...headers } : { 'Content-Type': 'application/json', ...headers },
    // `fetch` would drop the token on the way to another origin; wire.ts follows by its own rules.
    redirect: 'manual',
    signal,
    ...(body === undefined ? {} : { body }),
  })
  // Browsers hide the target of a redirect that they were told not to follow.
  if (response.type === 'opaqueredirect') throw new Error('the server points to another address: use that one')
  return {
    status: response.status,
    location: response.headers.get('Location') ?? undefined,
    retryAfter: response.headers.get('Retry-After') ?? undefined,
    text: await response.text(),
  }
}

/** Resolves after the delay, or rejects with the reason of the signal. */
export function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const give = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', give)
      resolve()
    }, delayMs)
    signal?.addEventListener('abort', give)
  })
}
