// Whose address it is, as far as limits are concerned.
import { isIP } from 'node:net'

/** How a socket that takes both families shows an IPv4 peer. */
const MAPPED = '::ffff:'
const GROUPS = 8
/** Of a network of 64 bits: what one customer of a provider gets at least (RFC 6177). */
const NETWORK_GROUPS = 4

/** The address of an IPv4 peer, the network of 64 bits of an IPv6 one: inside it anybody can have any address. */
export function networkOf(address: string): string {
  const lower = address.toLowerCase()
  const plain = lower.startsWith(MAPPED) && isIP(lower.slice(MAPPED.length)) === 4 ? lower.slice(MAPPED.length) : lower
  if (isIP(plain) !== 6) return plain
  const [bare = ''] = plain.split('%')
  const [head = '', tail] = bare.split('::')
  const first = groupsOf(head)
  const last = tail === undefined ? [] : groupsOf(tail)
  const zeros = Array.from({ length: GROUPS - first.length - last.length }, () => '0')
  const groups = [...first, ...zeros, ...last].slice(0, NETWORK_GROUPS)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/** The last one may be written as an IPv4 address, which is two. */
function groupsOf(text: string): string[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
}
