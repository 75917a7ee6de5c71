// What was asked, so that a test can say what must have been asked, and what never.
import { matchesGlob } from 'node:path'
import type { CloudRequest, Scheme, Service } from './exchange.ts'

export type LoggedRequest = {
  /** From 1 on, over all services. */
  readonly number: number
  readonly atMs: number
  readonly service: Service
  readonly scheme: Scheme
  readonly method: string
  /** As it was sent, undecoded. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Undefined while it is not answered, and where it never was. */
  status: number | undefined
}

/** Which requests are meant; what is left out may be anything. */
export type RequestFilter = {
  readonly service?: Service
  readonly method?: string
  /** A pattern with `*` for anything within one part and `**` for any parts, compared without regard to letter case. */
  readonly path?: string
}

/** Older ones are forgotten. */
const MOST_REQUESTS = 20_000

export class RequestLog {
  #requests: LoggedRequest[] = []
  #count = 0

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
