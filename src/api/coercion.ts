// From what clients send to the values that fields hold: numbers and booleans as text, durations, the texts of JSON.
import { DurationError, MAX_DURATION_SECONDS, parseLifetimeSeconds } from '../lib/duration.ts'
import type { JsonValue } from '../lib/json.ts'
import { fail } from './errors.ts'

/** The refusal of a field's value. */
export const invalid = (name: string, why: string, cause?: unknown) => fail('field_invalid', [name, why], cause)

export function describe(value: JsonValue): string {
  return value === null
    ? 'null'
    : Array.isArray(value)
      ? 'an array'
      : typeof value === 'object'
        ? 'an object'
        : typeof value
}

export function toText(value: JsonValue, name: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (value === null) return '' // A null string counts as sent and empty, as clients of the reference rely on.
  throw invalid(name, `expected a string, got ${describe(value)}`)
}

const INT_DIGITS = 20

/** Base prefixes 0x, 0o, 0b and a leading 0 for octal, '_' between digits; an empty text is 0. */
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

/** A number as it stands in paths: decimal, also with zeros in front. Undefined for all else. */
export function parseDecimal(text: string): number | undefined {
  return DECIMAL_DIGITS.test(text) ? Number(text) + 0 : undefined
}

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

/** Nothing below 0; a text is decimal digits, with a point or without. */
export function toNumber(value: JsonValue, name: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value === 'string' && DECIMAL.test(value)) return Number(value)
  throw invalid(name, `expected a number, got ${describe(value)}`)
}

const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True']
const FALSE = ['', '0', 'f', 'F', 'false', 'FALSE', 'False']

/** The texts that count as true and false everywhere, query parameters included; undefined for any other. */
export function parseBool(text: string): boolean | undefined {
  return TRUE.includes(text) ? true : FALSE.includes(text) ? false : undefined
}

/** What is above nothing is a second at least: 0 means "none" or "without end" in many fields. */
export function toSeconds(value: JsonValue, name: string): number {
  if (typeof value === 'number') {
    // Not NaN either. As far as a text may go: what is added to the time of day stays a date.
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

/** An array, or text with commas between the items. */
