// Encodes spans for OpenTelemetry collectors, in the JSON mapping of OTLP; a server that only sends traces needs no
// more of it. Ids are hexadecimal, 64-bit numbers are strings (opentelemetry.io/docs/specs/otlp).
import type { Span, SpanAttributes } from './request-trace.ts'

const KINDS = { internal: 1, server: 2 } as const
const STATUS_ERROR = 2

/** Returns the body of one request to `/v1/traces`. `resource` describes this server. */
export function otlpTraces(spans: readonly Span[], resource: SpanAttributes): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributeList(resource) },
        scopeSpans: [{ scope: { name: 'keywright' }, spans: spans.map(otlpSpan) }],
      },
    ],
  }
}

function otlpSpan(span: Span): object {
  const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, isError } = span
  return {
    traceId,
    spanId,
    ...(parentSpanId === '' ? {} : { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: attributeList(attributes),
    status: isError ? { code: STATUS_ERROR } : {},
  }
}

function attributeList(attributes: SpanAttributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
}

/** Rounds to microseconds: a float holds today's time no more precisely. */
const nanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`
