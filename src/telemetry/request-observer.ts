// Observes the requests of one thread: each from its arrival to its answer. A request that another thread passed on
// keeps the id that it got there. It is counted there and not here.
import { ROOT } from '../api/namespace.ts'
import type { ListNode } from '../lib/linked-list.ts'
import type { Clock, Random } from '../lib/world.ts'
import { type InFlightRequest, InFlightRequests, type RouteTaken } from './in-flight-requests.ts'
import type { RequestMeter } from './request-meter.ts'
import type { RequestTrace } from './request-trace.ts'
import type { TraceContext } from './trace-context.ts'
import type { Tracer } from './tracer.ts'

/** The part of an observation that travels with a request to another thread: its id, and its trace if it has one. */
export type PassedOn = { readonly id: string; readonly trace: TraceContext | undefined }

/** The part of a request that is observed. */
export type RequestSummary = {
  readonly method: string
  readonly remoteAddress: string
  readonly headers: { readonly traceparent?: string | undefined }
  readonly passedOn?: PassedOn | undefined
}

/** A request between `begin` and `end`. The exchange takes its id and trace from here; `routed` is the exchange. */
export type ObservedRequest = InFlightRequest & {
  readonly isPassedOn: boolean
  readonly trace: RequestTrace | undefined
  /** Its node in the list of requests in flight; undefined if another thread passed the request on. */
  node: ListNode<InFlightRequest> | undefined
}

const NOWHERE: RouteTaken = { namespace: ROOT, endpoint: undefined, mounted: undefined, pathParameters: {} }

/** Observes the requests of one thread: meter, list of requests in flight, and trace. */
export class RequestObserver {
  readonly inFlight = new InFlightRequests()
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

  /** Begins to observe a request; `end` must follow exactly once. The id is new, unless the request was passed on. */
  begin({ method, remoteAddress, headers, passedOn }: RequestSummary): ObservedRequest {
    const startedMs = this.#clock.monotonicMs()
    const trace = this.#tracer === undefined ? undefined : this.#trace(headers.traceparent, passedOn)
    const isPassedOn = passedOn !== undefined
    const id = passedOn?.id ?? this.#random.uuid()
    const observed: ObservedRequest = {
      id,
      method,
      remoteAddress,
      startedMs,
      routed: undefined,
      isPassedOn,
      trace,
      node: undefined,
    }
    if (!isPassedOn) {
      this.#meter.begun()
      observed.node = this.inFlight.add(observed)
    }
    return observed
  }

  /** Ends the observation and returns how long the request took, in seconds. */
  end(observed: ObservedRequest, status: number): number {
    const { routed = NOWHERE, trace, node, startedMs } = observed
    const seconds = (this.#clock.monotonicMs() - startedMs) / 1000
    if (node !== undefined) {
      this.#meter.ended(routed, status, seconds)
      this.inFlight.remove(node)
    }
    trace?.end(observed, routed, status)
    return seconds
  }

  #trace(header: string | undefined, passedOn: PassedOn | undefined): RequestTrace | undefined {
    if (passedOn !== undefined && passedOn.trace === undefined) return undefined
    return this.#tracer?.begin(header, passedOn?.trace)
  }
}
