// The transport of the library: `fetch`, as browsers and Node have it.
import type { HttpReply, HttpRequest, Transport } from './wire.ts'

export type Fetch = typeof fetch
export type FetchLimits = {
  /** The whole of one attempt. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** The attempt took longer than it may. */
export class TimedOut extends Error {
  override name = 'TimedOut'
}

/** Rejects with TimedOut, with the reason of the signal, or with what `fetch` rejects with. */
export function fetchTransport(fetcher: Fetch, { timeoutMs, signal }: FetchLimits): Transport {
  return async (request) => {
    signal?.throwIfAborted()
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
    headers: body === undefined ? { ...headers } : { ...headers, 'Content-Type': 'application/json' },
    redirect: 'manual',
    signal,
    ...(body === undefined ? {} : { body }),
  })
  // What a browser says instead of a redirect that it was not to follow.
  if (response.type === 'opaqueredirect') throw new Error('the server points to another address: use that one')
  return {
    status: response.status,
    location: response.headers.get('Location') ?? undefined,
    retryAfter: response.headers.get('Retry-After') ?? undefined,
    text: await response.text(),
  }
}

/** Resolves after the time, or rejects with the reason of the signal. */
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
