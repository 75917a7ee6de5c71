// Times as RFC 3339 writes them. Times of other programs can have nanoseconds, of which milliseconds keep only the
// first three digits: the rest is kept beside them.

/** A point in time: milliseconds since the epoch, and the rest. */
export type Instant = {
  readonly ms: number
  /** Nanoseconds beyond the millisecond, 0 to 999,999. */
  readonly nanos: number
}

const FORM = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

/** Returns undefined for a text that is no time. Before 1970 `ms` is negative. */
export function parseRfc3339(text: string): Instant | undefined {
  const [, second, digits = '', zone] = FORM.exec(text) ?? []
  if (second === undefined || zone === undefined) return undefined
  // Rejects 30 February, which Date.parse carries over into March.
  const local = Date.parse(`${second}Z`)
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(second)) return undefined
  const ms = Date.parse(`${second}${zone}`)
  if (Number.isNaN(ms)) return undefined
  const fraction = Number(digits.padEnd(9, '0'))
  return { ms: ms + Math.floor(fraction / 1_000_000), nanos: fraction % 1_000_000 }
}

/** Writes the time in UTC, with three digits after the second, or as many as the nanoseconds need. */
export function formatRfc3339(ms: number, nanos = 0): string {
  const text = new Date(ms).toISOString()
  return nanos === 0 ? text : text.replace('Z', `${nanos.toString().padStart(6, '0').replace(/0+$/, '')}Z`)
}
