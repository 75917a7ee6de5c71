// An address of a listener as operators read it. It stands apart from what reads the stanzas of listeners: a thread
// that shows an address parses no configuration.
import type { ListenerAddress } from './listener.ts'

/** Returns an address as text. Two listeners with the same text would compete for it. */
export function addressText(address: ListenerAddress): string {
  if (address.kind === 'unix') return `unix:${address.path}`
  return `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`
}
