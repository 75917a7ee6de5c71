// Times as RFC 3339 writes them. What comes from other programs can have nanoseconds, of which a number of
// milliseconds keeps only the first three digits: the rest is kept beside it.

export type Instant = {
  readonly ms: number
  /** Beyond the millisecond, 0 to 999,999. */
  readonly nanos: number
}

const FORM = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

/** Undefined for what is no time. Before 1970 `ms` is negative. */
export function parseRfc3339(text: string): Instant | undefined {
  const [, second, digits = '', zone] = FORM.exec(text) ?? []
  if (second === undefined || zone === undefined) return undefined
  // Date.parse carries a 30 February over into March.
  const local = Date.parse(`${second}Z`)
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(second)) return undefined
  const ms = Date.parse(`${second}${zone}`)
  if (Number.isNaN(ms)) return undefined
  const fraction = Number(digits.padEnd(9, '0'))
  return { ms: ms + Math.floor(fraction / 1_000_000), nanos: fraction % 1_000_000 }
}

/** In UTC, with three digits behind the second, or with as many as the nanoseconds need. */
export function formatRfc3339(ms: number, nanos = 0): string {
  const text = new Date(ms).toISOString()
  return nanos === 0 ? text : text.replace('Z', `${nanos.toString().padStart(6, '0').replace(/0+$/, '')}Z`)
}
