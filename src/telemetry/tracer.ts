// Decides which requests are traced, once per request.
import type { World } from '../lib/world.ts'
import { RequestTrace, type Span } from './request-trace.ts'
import { isWithin, newTraceId, parseTraceparent, type TraceContext } from './trace-context.ts'

/** Makes the trace of a request; missing altogether if no collector is configured. */
export type Tracer = {
  /**
   * Returns undefined if the request is not traced. `header` is its traceparent: a client that began a trace has
   * decided whether it is recorded. `passedOn` comes from another thread of this server, and wins.
   */
  begin(header: string | undefined, passedOn: TraceContext | undefined): RequestTrace | undefined
}

/** Makes a tracer. `sampling` is the part of requests, 0 to 1, to trace if the client has not decided. */
export function newTracer(
  world: Pick<World, 'clock' | 'random'>,
  sampling: number,
  toExport: (spans: readonly Span[]) => void,
): Tracer {
  return {
    begin: (header, passedOn) => {
      const parent = passedOn ?? parseTraceparent(header)
      if (parent !== undefined) return parent.isSampled ? new RequestTrace(world, parent, toExport) : undefined
      const traceId = newTraceId(world.random)
      if (!isWithin(sampling, traceId)) return undefined
      return new RequestTrace(world, { traceId, spanId: '', isSampled: true }, toExport)
    },
  }
}
