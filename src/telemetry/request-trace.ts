// Records the spans of one request: the request itself, and those steps of the pipeline that may take time.
import type { World } from '../lib/world.ts'
import { type RouteTaken, routeOf } from './in-flight-requests.ts'
import { newSpanId, type TraceContext } from './trace-context.ts'

/** Names of the steps that become spans. */
export type SpanName = 'authenticate' | 'authorise' | 'forward' | 'handle' | 'issue token' | 'commit'

/**
 * Attributes of a span or of the server. Of a request they have its method and the id that it got here, and its route
 * without the names in its path.
 */
export type SpanAttributes = Readonly<Record<string, string | number>>

/** A finished span as the exporter takes it. */
export type Span = {
  readonly traceId: string
  readonly spanId: string
  /** Span that this one belongs to; '' if the trace begins with it. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: 'server' | 'internal'
  /** Start in milliseconds since the epoch, measured with the monotonic clock. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: SpanAttributes
  readonly isError: boolean
}

/** The trace of one request in one thread. It hands its spans over all at once, when the request ends. */
export class RequestTrace {
  readonly #world: Pick<World, 'clock' | 'random'>
  readonly #parent: TraceContext
  readonly #spanId: string
  readonly #startedMs: number
  /** Difference between wall clock and monotonic clock at the start; it makes times of spans comparable. */
  readonly #offsetMs: number
  readonly #spans: Span[] = []
  readonly #export: (spans: readonly Span[]) => void

  /** `parent` is the caller's span; its span id is '' if the trace begins here. */
  constructor(
    world: Pick<World, 'clock' | 'random'>,
    parent: TraceContext,
    toExport: (spans: readonly Span[]) => void,
  ) {
    this.#world = world
    this.#parent = parent
    this.#spanId = newSpanId(world.random)
    this.#startedMs = world.clock.monotonicMs()
    this.#offsetMs = world.clock.nowMs() - this.#startedMs
    this.#export = toExport
  }

  /** Context for the thread that continues the request: its spans become children of this one. */
  get context(): TraceContext {
    return { ...this.#parent, spanId: this.#spanId }
  }

  /** Begins the span of a step. The returned function ends it, and must be called once. */
  begin(name: SpanName): (isError: boolean) => void {
    const startedMs = this.#world.clock.monotonicMs()
    return (isError) => this.#add(name, startedMs, isError)
  }

  #add(name: SpanName, startedMs: number, isError: boolean): void {
    this.#spans.push({
      traceId: this.#parent.traceId,
      spanId: newSpanId(this.#world.random),
      parentSpanId: this.#spanId,
      name,
      kind: 'internal',
      startMs: this.#offsetMs + startedMs,
      endMs: this.#offsetMs + this.#world.clock.monotonicMs(),
      attributes: {},
      isError,
    })
  }

  /** Ends the trace and exports its spans; it takes no further span. */
  end(
    request: { readonly id: string; readonly method: string; readonly isPassedOn: boolean },
    routed: RouteTaken,
    status: number,
  ) {
    const route = routeOf(routed)
    this.#export([
      {
        traceId: this.#parent.traceId,
        spanId: this.#spanId,
        parentSpanId: this.#parent.spanId,
        name: request.isPassedOn ? 'passed on' : `${request.method} ${route}`.trimEnd(),
        kind: request.isPassedOn ? 'internal' : 'server',
        startMs: this.#offsetMs + this.#startedMs,
        endMs: this.#offsetMs + this.#world.clock.monotonicMs(),
        attributes: {
          'http.request.method': request.method,
          'http.response.status_code': status,
          ...(route === '' ? {} : { 'http.route': route }),
          'keywright.endpoint': routed.endpoint?.id ?? 'none',
          ...(routed.namespace.path === '' ? {} : { 'keywright.namespace': routed.namespace.path }),
          'keywright.request_id': request.id,
        },
        isError: status >= 500,
      },
      ...this.#spans,
    ])
  }
}
