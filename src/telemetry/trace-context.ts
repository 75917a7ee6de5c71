// Reads the header `traceparent` (W3C Trace Context, level 1): the trace that the client began, and whether it is
// recorded.
import type { Random } from '../lib/world.ts'

/** Position of a request in a trace. */
export type TraceContext = {
  /** 32 hexadecimal digits in lower case; the span id has 16. */
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

const TRACE_DIGITS = 32
const SPAN_DIGITS = 16
const MAX_HEADER_CHARACTERS = 512

/**
 * Returns undefined if the header is missing or malformed: the trace then begins here. A later version of the format
 * may add fields after the flags, which are ignored.
 */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  if (header === undefined || header.length > MAX_HEADER_CHARACTERS) return undefined
  const [version = '', traceId = '', spanId = '', flags = '', ...more] = header.trim().split('-')
  if (!isHex(version, 2) || version === 'ff' || (version === '00' && more.length > 0)) return undefined
  if (!isHex(traceId, TRACE_DIGITS) || !isHex(spanId, SPAN_DIGITS) || !isHex(flags, 2)) return undefined
  if (isZero(traceId) || isZero(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Returns a random trace id. All zeros, which the format forbids, do not come in practice. */
export const newTraceId = (random: Random): string => random.bytes(TRACE_DIGITS / 2).toString('hex')
/** Returns a random span id. */
export const newSpanId = (random: Random): string => random.bytes(SPAN_DIGITS / 2).toString('hex')

/**
 * True if the trace is among the sampled part. Every server decides in the same way: the last 32 bits of the id decide
 * (TraceIdRatioBased).
 */
export function isWithin(ratio: number, traceId: string): boolean {
  return Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32
}

function isHex(text: string, digits: number): boolean {
  if (text.length !== digits) return false
  for (const character of text) if (!'0123456789abcdef'.includes(character)) return false
  return true
}

const isZero = (digits: string): boolean => [...digits].every((digit) => digit === '0')
