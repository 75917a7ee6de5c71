// The keys of a listener for what stands in front of it: which proxies may say where a request comes from. Bound tokens
// and quotas go by that address, so it is believed from named proxies only.

import type { ForwardedRules } from '../http/client-address.ts'
import type { ProxyRules } from '../http/proxy-protocol.ts'
import { CidrError, normalizeCidr } from '../lib/cidr.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { setting } from './setting.ts'
import { ConfigError, integerIn, listIn, switchOf, textIn } from './values.ts'

/** Keys of a listener; docs/configuration.md shows them. */
export const PROXY_SETTINGS = {
  x_forwarded_for_authorized_addrs: setting(
    'list of blocks',
    'none',
    'Proxies whose `X-Forwarded-For` header is trusted; its last entry is the client address',
  ),
  x_forwarded_for_hop_skips: setting(
    'number',
    '0',
    'Number of entries at the end of the header to skip, added by further proxies',
  ),
  x_forwarded_for_reject_not_present: setting(
    'bool',
    'true',
    'Whether a request without the header is refused with 400',
  ),
  x_forwarded_for_reject_not_authorized: setting(
    'bool',
    'true',
    'Whether a request with the header from any other address is refused with 400; if not, its own address counts',
  ),
  proxy_protocol_behavior: setting(
    '"use_always", "allow_authorized", "deny_unauthorized"',
    'none',
    'Which connections begin with a PROXY protocol header (version 1 or 2). `use_always`: all. `allow_authorized`: ' +
      'those from the listed proxies; others are accepted without it. `deny_unauthorized`: the same, but others are ' +
      'closed',
  ),
  proxy_protocol_authorized_addrs: setting(
    'list of blocks',
    'none',
    'Proxies listed for `allow_authorized` and `deny_unauthorized`',
  ),
} as const

const FORWARDED = 'x_forwarded_for_authorized_addrs'
const BEHAVIORS = ['use_always', 'allow_authorized', 'deny_unauthorized'] as const

/** Reads the rules for X-Forwarded-For; undefined if no proxy is named, and the header then means nothing. */
export function forwardedOf(body: HclObject): ForwardedRules | undefined {
  const authorized = blocksIn(body, FORWARDED)
  const hopSkips = integerIn(body, 'x_forwarded_for_hop_skips') ?? 0
  if (hopSkips < 0) throw new ConfigError('"x_forwarded_for_hop_skips" must not be negative')
  const rules = {
    authorized,
    hopSkips,
    rejectNotPresent: switchOf(body, 'x_forwarded_for_reject_not_present', true),
    rejectNotAuthorized: switchOf(body, 'x_forwarded_for_reject_not_authorized', true),
  }
  if (authorized.length > 0) return rules
  // Without a named proxy the others would have no effect, and an operator could believe that they do.
  const alone = body.items.find(({ key }) => key.startsWith('x_forwarded_for_') && key !== FORWARDED)
  if (alone !== undefined) throw new ConfigError(`line ${alone.line}: "${alone.key}" needs ${FORWARDED}`)
  return undefined
}

/** Reads the rules for the PROXY protocol; undefined if no connection begins with its header. @throws ConfigError */
export function proxyOf(body: HclObject): ProxyRules | undefined {
  const text = textIn(body, 'proxy_protocol_behavior')
  const authorized = blocksIn(body, 'proxy_protocol_authorized_addrs')
  if (text === undefined) {
    if (authorized.length > 0) throw new ConfigError('"proxy_protocol_authorized_addrs" needs proxy_protocol_behavior')
    return undefined
  }
  const behavior = BEHAVIORS.find((each) => each === text)
  if (behavior === undefined) throw new ConfigError(`"proxy_protocol_behavior" must be one of ${BEHAVIORS.join(', ')}`)
  if (behavior === 'use_always') return { behavior }
  if (authorized.length === 0)
    throw new ConfigError(`"proxy_protocol_behavior" ${behavior} needs proxy_protocol_authorized_addrs`)
  return { behavior, authorized }
}

function blocksIn(body: HclObject, key: string): readonly string[] {
  return listIn(body, key).map((text) => {
    try {
      return normalizeCidr(text)
    } catch (cause) {
      if (cause instanceof CidrError) throw new ConfigError(`"${key}": ${cause.message}`)
      throw cause
    }
  })
}
