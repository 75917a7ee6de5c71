// Keeps the requests in flight in one thread, and says what of them may be shown: no token, and no path segment that an
// endpoint marks as secret.
import type { Endpoint } from '../api/endpoint.ts'
import type { Namespace } from '../api/namespace.ts'
import { parsePattern } from '../api/pattern.ts'
import { LinkedList, type ListNode } from '../lib/linked-list.ts'
import { own } from '../lib/own.ts'
import type { Clock } from '../lib/world.ts'

/** The route of a request. The pipeline fills it in step by step. */
export type RouteTaken = {
  readonly namespace: Pick<Namespace, 'id' | 'path'>
  readonly endpoint: Endpoint | undefined
  readonly mounted: { readonly path: string } | undefined
  readonly pathParameters: Readonly<Record<string, string>>
}

/** One request from its arrival to its answer. */
export type InFlightRequest = {
  readonly id: string
  readonly method: string
  readonly remoteAddress: string
  /** Start on the monotonic clock. */
  readonly startedMs: number
  /** Set at the start of each attempt; its members are undefined until the pipeline has found the endpoint. */
  routed: RouteTaken | undefined
}

/** A request in flight as `sys/in-flight-req` shows it; the member names are those of the reference. */
export type InFlightView = {
  readonly id: string
  readonly start_time: string
  readonly client_remote_address: string
  readonly request_path: string
  readonly request_method: string
}

/** Only the oldest are shown: an answer of any length would cost more than it tells. */
export const MAX_SHOWN = 1_000
const MAX_PATH_CHARACTERS = 512

/** The requests in flight of one thread, oldest first. Adding and removing take constant time. */
export class InFlightRequests {
  readonly #requests = new LinkedList<InFlightRequest>()

  add(request: InFlightRequest): ListNode<InFlightRequest> {
    return this.#requests.add(request)
  }

  remove(node: ListNode<InFlightRequest>): void {
    this.#requests.remove(node)
  }

  get size(): number {
    return this.#requests.size
  }

  /** Returns what may be shown of the oldest MAX_SHOWN requests, with wall clock times. */
  shown({ nowMs, monotonicMs }: Clock): InFlightView[] {
    const offsetMs = nowMs() - monotonicMs()
    return [...this.#requests.values().take(MAX_SHOWN)].map((request) => ({
      id: request.id,
      start_time: new Date(offsetMs + request.startedMs).toISOString(),
      client_remote_address: request.remoteAddress,
      request_path: shownPath(request.routed).slice(0, MAX_PATH_CHARACTERS),
      request_method: request.method,
    }))
  }
}

/** Returns '' until the endpoint is known: before that, any part of the path may be secret. */
function shownPath(routed: RouteTaken | undefined): string {
  const { endpoint, mounted, pathParameters = {} } = routed ?? {}
  if (endpoint === undefined || mounted === undefined) return ''
  const shown = parsePattern(endpoint.path).flatMap((segment) => {
    if (segment.kind === 'literal') return [segment.text]
    const value = own(pathParameters, segment.name)
    if (value === undefined) return []
    return [own(endpoint.fields, segment.name)?.secret === true ? `:${segment.name}` : value]
  })
  return `/v1/${mounted.path}${shown.join('/')}`
}

/** Returns the path with names of parameters instead of their values: so it is no secret, and there are few of them. */
export function routeOf({ endpoint, mounted }: RouteTaken): string {
  return endpoint === undefined || mounted === undefined ? '' : `/v1/${mounted.path}${endpoint.path}`
}
