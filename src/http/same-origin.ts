// Whether a request of a page comes from the origin that it goes to. A browser says so itself (W3C Fetch Metadata,
// `Sec-Fetch-Site`), which no page can set; one that does not is judged by its host. Where this side speaks in clear, a
// proxy may speak TLS: then the scheme of the page is not known here.
import { own } from '../lib/own.ts'
import type { HeaderSource } from './headers.ts'

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: ':80', https: ':443' }

export function isSameOrigin(headers: HeaderSource, isTls: boolean): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers
  if (typeof origin !== 'string' || typeof host !== 'string') return false
  const [, scheme = '', authority = ''] = /^(https?):\/\/([^\s/?#@,]+)$/.exec(origin.toLowerCase()) ?? []
  if (authority === '' || (isTls && scheme !== 'https')) return false
  return withPort(authority, scheme) === withPort(host.toLowerCase(), scheme)
}

/** An IPv6 address stands in brackets, so a colon behind its last one begins a port. */
function withPort(authority: string, scheme: string): string {
  return /:\d+$/.test(authority) ? authority : authority + (own(DEFAULT_PORTS, scheme) ?? '')
}
