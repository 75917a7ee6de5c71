// The header `traceparent` (W3C Trace Context, level 1): who has begun a trace before us, and whether it is recorded.
import type { Random } from '../lib/world.ts'

export type TraceContext = {
  /** 32 and 16 hexadecimal digits, in small letters. */
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

const TRACE_DIGITS = 32
const SPAN_DIGITS = 16
const MAX_HEADER_CHARACTERS = 512

/** Undefined for what is not one: the trace then begins here. Later versions may say more behind the flags. */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  if (header === undefined || header.length > MAX_HEADER_CHARACTERS) return undefined
  const [version = '', traceId = '', spanId = '', flags = '', ...more] = header.trim().split('-')
  if (!isHex(version, 2) || version === 'ff' || (version === '00' && more.length > 0)) return undefined
  if (!isHex(traceId, TRACE_DIGITS) || !isHex(spanId, SPAN_DIGITS) || !isHex(flags, 2)) return undefined
  if (isZero(traceId) || isZero(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export const newTraceId = (random: Random): string => random.bytes(TRACE_DIGITS / 2).toString('hex')
export const newSpanId = (random: Random): string => random.bytes(SPAN_DIGITS / 2).toString('hex')

/** Of every trace the same answer, wherever it is asked: its last 32 bits decide (TraceIdRatioBased). */
export function isWithin(ratio: number, traceId: string): boolean {
  return Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32
}

function isHex(text: string, digits: number): boolean {
  if (text.length !== digits) return false
  for (const character of text) if (!'0123456789abcdef'.includes(character)) return false
  return true
}

const isZero = (digits: string): boolean => [...digits].every((digit) => digit === '0')
