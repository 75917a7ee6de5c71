// The requests that came in: a test can say which must have been sent, and which never.
import { matchesGlob } from 'node:path'
import type { CloudRequest, Scheme, Service } from './exchange.ts'

/** A request as it came in, with the status of its answer. */
export type LoggedRequest = {
  /** Counted from 1, over all services. */
  readonly number: number
  readonly atMs: number
  readonly service: Service
  readonly scheme: Scheme
  readonly method: string
  /** The path as it was sent, undecoded. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Undefined while there is no answer, and for good if there was none. */
  status: number | undefined
}

/** Chooses requests. A member that is left out may have any value. */
export type RequestFilter = {
  readonly service?: Service
  readonly method?: string
  /** A pattern: `*` is anything within one part, `**` any parts. Letter case does not matter. */
  readonly path?: string
}

/** Older requests are dropped, so that a long run does not fill memory. */
const MOST_REQUESTS = 20_000

/** The log of one emulator. */
export class RequestLog {
  #requests: LoggedRequest[] = []
  #count = 0

  /** Adds a request. The caller sets the status of the result when it is answered. */
  add(request: CloudRequest, atMs: number): LoggedRequest {
    const { service, scheme, method, path, query, headers, body } = request
    const logged: LoggedRequest = {
      number: ++this.#count,
      atMs,
      service,
      scheme,
      method,
      path,
      query: Object.fromEntries(query),
      headers,
      body: body.toString(),
      status: undefined,
    }
    this.#requests.push(logged)
    if (this.#requests.length > MOST_REQUESTS) this.#requests.shift()
    return logged
  }

  list(filter: RequestFilter = {}): LoggedRequest[] {
    return this.#requests.filter((request) => fits(filter, request))
  }

  count(filter: RequestFilter = {}): number {
    return this.list(filter).length
  }

  clear(): void {
    this.#requests = []
  }
}

/** True if a filter chooses a request. */
export function fits(
  { service, method, path }: RequestFilter,
  request: Pick<LoggedRequest, 'service' | 'method' | 'path'>,
): boolean {
  return (
    (service === undefined || service === request.service) &&
    (method === undefined || method.toUpperCase() === request.method) &&
    (path === undefined || matchesGlob(request.path.toLowerCase(), path.toLowerCase()))
  )
}
