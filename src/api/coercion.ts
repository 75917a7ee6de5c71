// Converts what clients send to the values of fields: numbers and booleans as text, durations, JSON strings.
import { DurationError, MAX_DURATION_SECONDS, parseLifetimeSeconds } from '../lib/duration.ts'
import type { JsonValue } from '../lib/json.ts'
import { fail } from './errors.ts'

/** The refusal of a field's value; `why` completes the sentence and never repeats the value. */
export const invalid = (name: string, why: string, cause?: unknown) => fail('field_invalid', [name, why], cause)

/** Names the JSON type of a value, for refusals. */
export function describe(value: JsonValue): string {
  return value === null
    ? 'null'
    : Array.isArray(value)
      ? 'an array'
      : typeof value === 'object'
        ? 'an object'
        : typeof value
}

/**
 * Returns the value as text. A number becomes its digits, true and false become 1 and 0, null becomes ''.
 * @throws Refusal naming the field
 */
export function toText(value: JsonValue, name: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (value === null) return '' // A null string counts as sent and empty, as clients of the reference rely on.
  throw invalid(name, `expected a string, got ${describe(value)}`)
}

const INT_DIGITS = 20

/** Parses an integer: base prefixes 0x, 0o, 0b, a leading 0 for octal, '_' between digits. An empty text is 0. */
function parseInteger(text: string): number | undefined {
  if (text === '') return 0
  const negative = text.startsWith('-')
  let digits = negative || text.startsWith('+') ? text.slice(1) : text
  if (digits.length > INT_DIGITS + 50 || digits.startsWith('_') || digits.endsWith('_')) return undefined
  digits = digits.replaceAll('_', '').toLowerCase()
  let base = 10
  if (digits.startsWith('0x')) base = 16
  else if (digits.startsWith('0o')) base = 8
  else if (digits.startsWith('0b')) base = 2
  if (base !== 10) digits = digits.slice(2)
  else if (digits.length > 1 && digits.startsWith('0')) base = 8
  if (digits === '') return undefined
  let value = 0
  for (const character of digits) {
    const digit = '0123456789abcdef'.indexOf(character)
    if (digit < 0 || digit >= base) return undefined
    value = value * base + digit
  }
  return Number.isSafeInteger(value) ? (negative ? -value : value) : undefined
}

const DECIMAL_DIGITS = /^[+-]?\d{1,15}$/

/** Parses a number in a path: decimal, leading zeros allowed. Returns undefined for everything else. */
export function parseDecimal(text: string): number | undefined {
  return DECIMAL_DIGITS.test(text) ? Number(text) + 0 : undefined
}

/** Returns the value as a safe integer; booleans count as 1 and 0. @throws Refusal naming the field */
export function toInteger(value: JsonValue, name: string, expected = 'an integer'): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'string') {
    const parsed = parseInteger(value)
    if (parsed !== undefined) return parsed
  }
  throw invalid(
    name,
    `expected ${expected}, got ${typeof value === 'number' ? 'a number that is none' : describe(value)}`,
  )
}

const DECIMAL = /^[0-9]{1,15}(?:\.[0-9]{1,9})?$/

/**
 * Returns the value as a number. A text must be decimal digits, with or without a point, and so is never negative.
 * @throws Refusal naming the field
 */
export function toNumber(value: JsonValue, name: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value === 'string' && DECIMAL.test(value)) return Number(value)
  throw invalid(name, `expected a number, got ${describe(value)}`)
}

const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True']
const FALSE = ['', '0', 'f', 'F', 'false', 'FALSE', 'False']

/**
 * Parses the texts that count as true and false everywhere, query parameters included. Returns undefined for any other.
 */
export function parseBool(text: string): boolean | undefined {
  return TRUE.includes(text) ? true : FALSE.includes(text) ? false : undefined
}

/**
 * Returns a duration in seconds. Fractions above 0 become one second, since 0 means "none" or "without end" in many
 * fields.
 * @throws Refusal naming the field
 */
export function toSeconds(value: JsonValue, name: string): number {
  if (typeof value === 'number') {
    // The comparison also refuses NaN. The bound is that of texts: added to the time of day, the result is still a
    // date.
    if (!(Math.abs(value) <= MAX_DURATION_SECONDS)) throw fail('out_of_range', [name, 'must be shorter than 292 years'])
    return value > 0 && value < 1 ? 1 : Math.trunc(value) + 0
  }
  if (typeof value !== 'string')
    throw invalid(name, `expected seconds or a duration such as 1h30m, got ${describe(value)}`)
  if (value === '') return 0
  try {
    return parseLifetimeSeconds(value)
  } catch (cause) {
    if (cause instanceof DurationError) throw invalid(name, 'expected seconds or a duration such as 1h30m', cause)
    throw cause
  }
}
