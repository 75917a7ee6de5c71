// Decides which requests are traced.
import type { World } from '../lib/world.ts'
import { RequestTrace, type Span } from './request-trace.ts'
import { isWithin, newTraceId, parseTraceparent, type TraceContext } from './trace-context.ts'

export type Tracer = {
  /**
   * Undefined where the request is not traced. `header` is its traceparent: whoever began a trace has decided whether
   * it is recorded. `passedOn` comes from another thread of this server.
   */
  begin(header: string | undefined, passedOn: TraceContext | undefined): RequestTrace | undefined
}

/** `sampling`: the part of the requests that are traced where nobody has decided before, 0 to 1. */
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
