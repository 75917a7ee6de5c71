// Behind a proxy: which address a request came from. Only what a proxy that is trusted wrote counts, and it is read
// from the right, where the nearest one wrote last: what stands to the left of it anybody can have sent (threats H-10).
import { isIP } from 'node:net'
import { fail } from '../api/errors.ts'
import { cidrMatcher } from '../lib/cidr.ts'

export type ForwardedRules = {
  /** Blocks of the proxies; never empty. */
  readonly authorized: readonly string[]
  /** Entries at the right end that further proxies of ours wrote. */
  readonly hopSkips: number
  readonly rejectNotPresent: boolean
  readonly rejectNotAuthorized: boolean
}

/** The address that a request counts as coming from. */
export type AddressOf = (peer: string, forwardedFor: string | undefined) => string

/** What it makes of a header that is not as the rules want it: @throws Refusal */
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

/** Without port, zone and brackets; an IPv4 address in the IPv6 form could pass a rule that is written for IPv4. */
const isPlainAddress = (text: string): boolean =>
  isIP(text) !== 0 && !text.includes('%') && !text.toLowerCase().startsWith('::ffff:')
