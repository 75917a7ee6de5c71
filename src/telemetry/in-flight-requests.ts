// The requests that are under way in one thread, and what of them may be shown: no token, and nothing of a path that an
// endpoint calls secret.
import type { Endpoint } from '../api/endpoint.ts'
import { parsePattern } from '../api/pattern.ts'
import { LinkedList, type ListNode } from '../lib/linked-list.ts'
import { own } from '../lib/own.ts'
import type { Clock } from '../lib/world.ts'

/** As much of a request's way as says where it went; the pipeline fills it in. */
export type RouteTaken = {
  readonly endpoint: Endpoint | undefined
  readonly mounted: { readonly entry: { readonly path: string } } | undefined
  readonly pathParameters: Readonly<Record<string, string>>
}

export type InFlightRequest = {
  readonly id: string
  readonly method: string
  readonly remoteAddress: string
  /** By the clock that never goes back. */
  readonly startedMs: number
  routed: RouteTaken | undefined
}

/** One request as others see it; the names are those of the reference. */
export type InFlightView = {
  readonly id: string
  readonly start_time: string
  readonly client_remote_address: string
  readonly request_path: string
  readonly request_method: string
}

/** The oldest of so many are shown; who has more under way has no use for a longer list. */
export const MAX_SHOWN = 1_000
const MAX_PATH_CHARACTERS = 512

export class InFlightRequests {
  readonly #flights = new LinkedList<InFlightRequest>()

  add(flight: InFlightRequest): ListNode<InFlightRequest> {
    return this.#flights.add(flight)
  }

  remove(place: ListNode<InFlightRequest>): void {
    this.#flights.remove(place)
  }

  get size(): number {
    return this.#flights.size
  }

  /** The oldest first. */
  shown({ nowMs, monotonicMs }: Clock): InFlightView[] {
    const offsetMs = nowMs() - monotonicMs()
    return [...this.#flights.values().take(MAX_SHOWN)].map((flight) => ({
      id: flight.id,
      start_time: new Date(offsetMs + flight.startedMs).toISOString(),
      client_remote_address: flight.remoteAddress,
      request_path: shownPath(flight.routed).slice(0, MAX_PATH_CHARACTERS),
      request_method: flight.method,
    }))
  }
}

/** '' as long as it is not known whether something in the path is secret. */
function shownPath(routed: RouteTaken | undefined): string {
  const { endpoint, mounted, pathParameters = {} } = routed ?? {}
  if (endpoint === undefined || mounted === undefined) return ''
  const shown = parsePattern(endpoint.path).flatMap((segment) => {
    if (segment.kind === 'literal') return [segment.text]
    const value = own(pathParameters, segment.name)
    if (value === undefined) return []
    return [own(endpoint.fields, segment.name)?.secret === true ? `:${segment.name}` : value]
  })
  return `/v1/${mounted.entry.path}${shown.join('/')}`
}

/** The path without what callers choose: of a bounded number, and no secret. */
export function routeOf({ endpoint, mounted }: RouteTaken): string {
  return endpoint === undefined || mounted === undefined ? '' : `/v1/${mounted.entry.path}${endpoint.path}`
}
