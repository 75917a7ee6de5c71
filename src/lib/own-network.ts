// Addresses that lie in this machine or on its link: what belongs to the internet has none of them.
import { cidrMatcher } from './cidr.ts'

const OWN = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '::/128', '::1/128', 'fe80::/10']

/** Loopback, link-local (where clouds serve their metadata) and unspecified addresses. */
export function isOwnNetwork(address: string): boolean {
  matcher ??= cidrMatcher(OWN)
  return matcher(address)
}
/** Made when it is asked for: the runtime takes 7 ms to compile what an IPv6 address looks like. */
let matcher: ReturnType<typeof cidrMatcher> | undefined
