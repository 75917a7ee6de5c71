// Points in time as clients write them: RFC 3339, or seconds since 1970.

/** RFC 3339 section 5.6, for a text whose length was checked. */
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i
/** Characters of the longest form: nine digits after the second, and an offset. */
const MAX_TEXT_LENGTH = 35
/** Every number of 15 digits is exact as a double. */
const MAX_DIGITS = 15

/** Returns milliseconds since the epoch; undefined for a text that is no point in time. */
export function parseInstantMs(text: string): number | undefined {
  const seconds = parseDigits(text)
  if (seconds !== undefined) return seconds * 1000
  if (text.length > MAX_TEXT_LENGTH || !RFC_3339.test(text)) return undefined
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? undefined : atMs
}

/** Returns the number that a text of digits means; undefined for any other text. */
export function parseDigits(text: string): number | undefined {
  const isDecimal = text !== '' && text.length <= MAX_DIGITS && [...text].every((one) => one >= '0' && one <= '9')
  return isDecimal ? Number(text) : undefined
}
