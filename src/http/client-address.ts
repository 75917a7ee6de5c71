// Finds the address of a client behind proxies. Only entries written by a trusted proxy count. The header is read from
// the right, where the nearest proxy wrote last; any client can have sent what stands further left (threats H-10).
import { isIP } from 'node:net'
import { fail } from '../api/errors.ts'
import { cidrMatcher } from '../lib/cidr.ts'

/** The `x_forwarded_for_…` settings of a listener. */
export type ForwardedRules = {
  /** Address blocks of the trusted proxies; never empty. */
  readonly authorized: readonly string[]
  /** Number of entries at the right end that further proxies of the operator wrote. */
  readonly hopSkips: number
  /** True to refuse requests without the header. */
  readonly rejectNotPresent: boolean
  /**
   * True to refuse requests with the header from an address that is no trusted proxy; otherwise the header is ignored.
   */
  readonly rejectNotAuthorized: boolean
}

/** Returns the address that a request counts as coming from, given the peer's address and the header. */
export type AddressOf = (peer: string, forwardedFor: string | undefined) => string

/** Makes the finder for a listener. The finder throws a Refusal if the header breaks the rules. */
export function forwardedAddress(rules: ForwardedRules): AddressOf {
  const isAuthorized = cidrMatcher(rules.authorized)
  return (peer, forwardedFor) => {
    if (forwardedFor === undefined || forwardedFor === '') {
      if (rules.rejectNotPresent) throw fail('bad_forwarding', ['is missing, and this listener asks for it'])
      return peer
    }
    if (!isAuthorized(peer)) {
      if (rules.rejectNotAuthorized) throw fail('bad_forwarding', ['comes from an address that may not send it'])
      return peer
    }
    const hops = forwardedFor.split(',').map((hop) => hop.trim())
    const used = hops.slice(-1 - rules.hopSkips)
    if (used.length <= rules.hopSkips) throw fail('bad_forwarding', ['has fewer entries than are to be skipped'])
    if (!used.every(isPlainAddress)) throw fail('bad_forwarding', ['holds an entry that is not a plain address'])
    return used[0] as string
  }
}

/**
 * True for an address without port, zone and brackets. The IPv6 form of an IPv4 address is refused: it could evade a
 * rule that is written for IPv4.
 */
const isPlainAddress = (text: string): boolean =>
  isIP(text) !== 0 && !text.includes('%') && !text.toLowerCase().startsWith('::ffff:')
