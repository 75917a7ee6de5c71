// Headers of every answer: the server's own, and those that an operator adds to a listener by status.
import { own } from '../lib/own.ts'

/**
 * The `custom_response_headers` of a listener: values by name, under a status ("404"), a class ("4xx") or "default".
 */
export type CustomHeaders = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Returns the headers for an answer of this status. */
export type HeadersFor = (status: number) => Readonly<Record<string, string>>

/** Tell browsers that no answer is a page, whatever it contains (threats M-04, W-02). */
const NO_PAGE = { 'X-Content-Type-Options': 'nosniff', 'Content-Security-Policy': "default-src 'none'" }

/**
 * Merges the headers for each status. A status wins over its class, the class over the default, the default over ours.
 */
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
    // There are at most 900 statuses, so the cache is bounded.
    known.set(status, merged)
    return merged
  }
}

/** Headers that weaken an answer if they are replaced: ours stay. */
const KEPT: readonly string[] = ['x-content-type-options', 'strict-transport-security']
const POLICY = 'content-security-policy'

/**
 * Joins our headers with those of one answer. The latter win, except where they could only weaken. Of two content
 * security policies both apply: one header holds a list of them (W3C CSP level 3, section 3.1).
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

/** Merges headers; later ones win, whatever the case of their names. */
function merge(...all: (Readonly<Record<string, string>> | undefined)[]): Record<string, string> {
  const byName = new Map<string, readonly [string, string]>()
  for (const headers of all) {
    for (const [name, value] of Object.entries(headers ?? {})) byName.set(name.toLowerCase(), [name, value])
  }
  return Object.fromEntries(byName.values())
}
