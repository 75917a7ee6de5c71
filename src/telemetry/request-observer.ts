// What one thread notes of every request: where it begins and where it ends. A request that another thread passed on is
// counted there, and keeps its id.
import type { ListNode } from '../lib/linked-list.ts'
import type { Clock, Random } from '../lib/world.ts'
import { type InFlightRequest, InFlightRequests, type RouteTaken } from './in-flight-requests.ts'
import type { RequestMeter } from './request-meter.ts'
import type { RequestTrace } from './request-trace.ts'
import type { TraceContext } from './trace-context.ts'
import type { Tracer } from './tracer.ts'

/** What a thread that passes a request on says of it. */
export type PassedOn = { readonly id: string; readonly trace: TraceContext | undefined }

/** As much of a request as is noted. */
export type RequestSummary = {
  readonly method: string
  readonly remoteAddress: string
  readonly headers: { readonly traceparent?: string | undefined }
  readonly passedOn?: PassedOn | undefined
}

export type ObservedRequest = InFlightRequest & {
  readonly isPassedOn: boolean
  readonly trace: RequestTrace | undefined
  /** Among the flights of this thread; undefined where another thread passed it on. */
  place: ListNode<InFlightRequest> | undefined
}

const NOWHERE: RouteTaken = { endpoint: undefined, mounted: undefined, pathParameters: {} }

export class RequestObserver {
  readonly flights = new InFlightRequests()
  readonly #clock: Clock
  readonly #random: Random
  readonly #meter: RequestMeter
  readonly #tracer: Tracer | undefined

  constructor(world: { readonly clock: Clock; readonly random: Random }, meter: RequestMeter, tracer?: Tracer) {
    this.#clock = world.clock
    this.#random = world.random
    this.#meter = meter
    this.#tracer = tracer
  }

  begin({ method, remoteAddress, headers, passedOn }: RequestSummary): ObservedRequest {
    const startedMs = this.#clock.monotonicMs()
    const trace = this.#tracer === undefined ? undefined : this.#trace(headers.traceparent, passedOn)
    const isPassedOn = passedOn !== undefined
    const id = passedOn?.id ?? this.#random.uuid()
    const watched: ObservedRequest = {
      id,
      method,
      remoteAddress,
      startedMs,
      routed: undefined,
      isPassedOn,
      trace,
      place: undefined,
    }
    if (!isPassedOn) {
      this.#meter.begun()
      watched.place = this.flights.add(watched)
    }
    return watched
  }

  /** Gives how long it took, in seconds. */
  end(watched: ObservedRequest, status: number): number {
    const { routed = NOWHERE, trace, place, startedMs } = watched
    const seconds = (this.#clock.monotonicMs() - startedMs) / 1000
    if (place !== undefined) {
      this.#meter.ended(routed.endpoint, status, seconds)
      this.flights.remove(place)
    }
    trace?.end(watched, routed, status)
    return seconds
  }

  #trace(header: string | undefined, passedOn: PassedOn | undefined): RequestTrace | undefined {
    if (passedOn !== undefined && passedOn.trace === undefined) return undefined
    return this.#tracer?.begin(header, passedOn?.trace)
  }
}
