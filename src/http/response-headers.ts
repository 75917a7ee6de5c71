// Headers of every answer: ours, and those that the operator adds to a listener, by status.
import { own } from '../lib/own.ts'

/** Values by name; the key is a status ("404"), a class ("4xx") or "default". */
export type CustomHeaders = Readonly<Record<string, Readonly<Record<string, string>>>>

export type HeadersFor = (status: number) => Readonly<Record<string, string>>

/** No answer is a page, whatever a browser finds in it (threats M-04, W-02). */
const NO_PAGE = { 'X-Content-Type-Options': 'nosniff', 'Content-Security-Policy': "default-src 'none'" }

/** Those of the status beat those of its class, both the default, and that beats ours. */
export function headersFor(custom: CustomHeaders): HeadersFor {
  if (Object.keys(custom).length === 0) return () => NO_PAGE
  const known = new Map<number, Readonly<Record<string, string>>>()
  return (status) => {
    const found = known.get(status)
    if (found !== undefined) return found
    const merged = merge(
      NO_PAGE,
      custom.default,
      own(custom, `${Math.floor(status / 100)}xx`),
      own(custom, String(status)),
    )
    // Statuses are three digits, so this is bounded.
    known.set(status, merged)
    return merged
  }
}

/** What weakens answers where it is replaced: ours stays. */
const KEPT: readonly string[] = ['x-content-type-options', 'strict-transport-security']
const POLICY = 'content-security-policy'

/**
 * Ours and those of one answer, which win, but for what they could only weaken. Of two content security policies both
 * hold: a list of them stands in one header (W3C CSP level 3, section 3.1).
 */
export function withOurs(
  ours: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  if (own === undefined) return ours
  const all = new Map(Object.entries(ours).map((header) => [header[0].toLowerCase(), header]))
  for (const [name, value] of Object.entries(own)) {
    const lower = name.toLowerCase()
    const known = all.get(lower)
    if (known !== undefined && KEPT.includes(lower)) continue
    all.set(lower, [name, known !== undefined && lower === POLICY ? `${known[1]}, ${value}` : value])
  }
  return Object.fromEntries(all.values())
}

/** Later ones win, whatever the case of their names. */
function merge(...all: (Readonly<Record<string, string>> | undefined)[]): Record<string, string> {
  const byName = new Map<string, readonly [string, string]>()
  for (const headers of all) {
    for (const [name, value] of Object.entries(headers ?? {})) byName.set(name.toLowerCase(), [name, value])
  }
  return Object.fromEntries(byName.values())
}
