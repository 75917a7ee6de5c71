// Tells whether a page's request comes from the origin that it goes to. A browser says so in `Sec-Fetch-Site` (W3C
// Fetch Metadata), which no page can set; without it the Host decides. On a listener without TLS a proxy may speak TLS,
// so the scheme of the page is not compared there.
import { own } from '../lib/own.ts'
import type { HeaderSource } from './headers.ts'

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: ':80', https: ':443' }

/** True if the page and this server have the same origin. `isTls` is that of the listener. */
export function isSameOrigin(headers: HeaderSource, isTls: boolean): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers
  if (typeof origin !== 'string' || typeof host !== 'string') return false
  const [, scheme = '', authority = ''] = /^(https?):\/\/([^\s/?#@,]+)$/.exec(origin.toLowerCase()) ?? []
  if (authority === '' || (isTls && scheme !== 'https')) return false
  return withPort(authority, scheme) === withPort(host.toLowerCase(), scheme)
}

/** Adds the default port. An IPv6 address stands in brackets, so a colon after the last one begins a port. */
function withPort(authority: string, scheme: string): string {
  return /:\d+$/.test(authority) ? authority : authority + (own(DEFAULT_PORTS, scheme) ?? '')
}
