// The spans of one request: the request itself, and the steps of the pipeline that may take time.
import type { World } from '../lib/world.ts'
import { type RouteTaken, routeOf } from './in-flight-requests.ts'
import { newSpanId, type TraceContext } from './trace-context.ts'

export type SpanName = 'authenticate' | 'authorise' | 'forward' | 'handle' | 'issue token' | 'commit'

/** Values are of the endpoint table and the answer, never of the request. */
export type SpanAttributes = Readonly<Record<string, string | number>>

export type Span = {
  readonly traceId: string
  readonly spanId: string
  /** '' where the trace begins with it. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: 'server' | 'internal'
  /** Milliseconds since the epoch. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: SpanAttributes
  readonly isError: boolean
}

export class RequestTrace {
  readonly #world: Pick<World, 'clock' | 'random'>
  readonly #parent: TraceContext
  readonly #spanId: string
  readonly #startedMs: number
  /** From the clock that never goes back to the one of the wall. */
  readonly #offsetMs: number
  readonly #spans: Span[] = []
  readonly #export: (spans: readonly Span[]) => void

  /** The span id of `parent` is '' where the trace begins here. */
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

  /** For whoever goes on with the request. */
  get context(): TraceContext {
    return { ...this.#parent, spanId: this.#spanId }
  }

  /** Begins a step; `end` is called once. */
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

  /** After it the trace takes no further span. */
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
          'keywright.request_id': request.id,
        },
        isError: status >= 500,
      },
      ...this.#spans,
    ])
  }
}
