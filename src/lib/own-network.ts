// Addresses that mean the machine itself or its link, on whatever machine. No service of the internet has one.
import { cidrMatcher } from './cidr.ts'

const OWN = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '::/128', '::1/128', 'fe80::/10']

/** True for loopback, link-local (where clouds serve their metadata) and unspecified addresses. */
export function isOwnNetwork(address: string): boolean {
  matcher ??= cidrMatcher(OWN)
  return matcher(address)
}
/** Made at the first call: the runtime takes 7 ms to compile the pattern of an IPv6 address. */
let matcher: ReturnType<typeof cidrMatcher> | undefined
