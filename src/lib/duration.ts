// Durations as clients of the API write them: a number of seconds, the same as text, Go's units ("1h30m", "100ms"), or
// whole days ("2d").

const NANOSECONDS_PER_SECOND = 1_000_000_000n
const NANOSECONDS_PER_UNIT: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', NANOSECONDS_PER_SECOND],
  ['m', 60n * NANOSECONDS_PER_SECOND],
  ['h', 3_600n * NANOSECONDS_PER_SECOND],
  ['d', 86_400n * NANOSECONDS_PER_SECOND],
])
/** Clients hold durations in 64 bits of nanoseconds: about 292 years. */
const MAX_NANOSECONDS = 2n ** 63n - 1n
/** That limit in seconds, for durations that come as a number. */
export const MAX_DURATION_SECONDS = Number(MAX_NANOSECONDS / NANOSECONDS_PER_SECOND)
/** Far more than any duration needs. Bounds the cost of the arithmetic. */
const MAX_TEXT_LENGTH = 100

/** The value is not a duration. The message says what is wrong, never what was sent. */
export class DurationError extends Error {
  override name = 'DurationError'
}

/**
 * Returns whole seconds. A fraction is cut off, so `100ms` is 0; the empty text is 0. Negative durations are parsed:
 * the caller decides whether one makes sense.
 * @throws DurationError
 */
export function parseDurationSeconds(value: string | number): number {
  return Number(parseDurationNanoseconds(value) / NANOSECONDS_PER_SECOND)
}

/**
 * Like `parseDurationSeconds`, for values in which 0 means "none" or "without end": a positive duration is a second at
 * least.
 * @throws DurationError
 */
export function parseLifetimeSeconds(value: string | number): number {
  const nanoseconds = parseDurationNanoseconds(value)
  return nanoseconds > 0n && nanoseconds < NANOSECONDS_PER_SECOND ? 1 : Number(nanoseconds / NANOSECONDS_PER_SECOND)
}

/** Returns the exact duration; a plain number is seconds. @throws DurationError */
export function parseDurationNanoseconds(value: string | number): bigint {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new DurationError('A duration given as a number must be whole seconds')
    return withinRange(BigInt(value) * NANOSECONDS_PER_SECOND)
  }
  if (value.length > MAX_TEXT_LENGTH) throw new DurationError(`A duration has at most ${MAX_TEXT_LENGTH} characters`)
  if (value === '') return 0n
  const negative = value.startsWith('-')
  const unsigned = negative || value.startsWith('+') ? value.slice(1) : value
  const nanoseconds = parseUnsigned(unsigned)
  return withinRange(negative ? -nanoseconds : nanoseconds)
}

/** Writes hours, minutes and seconds as Go does: `768h0m0s`, `1m30s`, `0s`. */
export function formatDuration(seconds: number): string {
  if (!Number.isSafeInteger(seconds)) throw new RangeError('formatDuration takes whole seconds')
  const sign = seconds < 0 ? '-' : ''
  const total = Math.abs(seconds)
  const hours = Math.floor(total / 3600)
  const minutes = Math.floor((total % 3600) / 60)
  const rest = `${total % 60}s`
  if (hours > 0) return `${sign}${hours}h${minutes}m${rest}`
  return minutes > 0 ? `${sign}${minutes}m${rest}` : `${sign}${rest}`
}

function withinRange(nanoseconds: bigint): bigint {
  if (nanoseconds > MAX_NANOSECONDS || nanoseconds < -MAX_NANOSECONDS) {
    throw new DurationError('A duration must be shorter than 292 years')
  }
  return nanoseconds
}

function parseUnsigned(text: string): bigint {
  const digitsEnd = skipDigits(text, 0)
  if (digitsEnd > 0 && digitsEnd === text.length) return BigInt(text) * NANOSECONDS_PER_SECOND
  let nanoseconds = 0n
  let at = 0
  do {
    const part = parsePart(text, at)
    nanoseconds += part.nanoseconds
    at = part.end
  } while (at < text.length)
  return nanoseconds
}

/** Parses one number with its unit; a fraction finer than a nanosecond is cut off. */
function parsePart(text: string, start: number): { nanoseconds: bigint; end: number } {
  const wholeEnd = skipDigits(text, start)
  const hasPoint = text[wholeEnd] === '.'
  const numberEnd = hasPoint ? skipDigits(text, wholeEnd + 1) : wholeEnd
  const whole = text.slice(start, wholeEnd)
  const fraction = hasPoint ? text.slice(wholeEnd + 1, numberEnd) : ''
  if (whole === '' && fraction === '') throw new DurationError(malformed('A number', start))
  const end = skipUnit(text, numberEnd)
  const unit = text.slice(numberEnd, end)
  const scale = NANOSECONDS_PER_UNIT.get(unit)
  if (scale === undefined) throw new DurationError(malformed('A unit', numberEnd))
  if (unit === 'd' && (hasPoint || start > 0 || end < text.length)) {
    throw new DurationError('Days must be a whole number and stand alone, like 2d')
  }
  const parts = BigInt(whole + fraction) * scale
  return { nanoseconds: parts / 10n ** BigInt(fraction.length), end }
}

function malformed(expected: string, at: number): string {
  return `${expected} is missing at character ${at + 1} of a duration; write seconds (90), units (1h30m) or days (2d)`
}

function skipDigits(text: string, from: number): number {
  let at = from
  while (at < text.length && isDigit(text.charCodeAt(at))) at += 1
  return at
}

function skipUnit(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at] !== '.' && !isDigit(text.charCodeAt(at))) at += 1
  return at
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}
