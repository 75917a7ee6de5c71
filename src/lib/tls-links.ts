// The real links: mutual TLS 1.3.
import type { LinkParts, Links } from './links.ts'
import { dialTls } from './tls-dial.ts'
import { listenTls } from './tls-listen.ts'

/** Returns the links of this machine. The timers are for deadlines, the clock judges certificates. */
export function tlsLinks(parts: LinkParts): Links {
  return {
    dial: (to, as, limits) => dialTls(parts, to, as, limits),
    listen: (at, serving) => listenTls(parts, at, serving),
  }
}
