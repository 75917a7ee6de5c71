// The network that an address counts for, where limits are by caller.
import { isIP } from 'node:net'

/** How a socket that takes both families shows an IPv4 peer. */
const MAPPED = '::ffff:'
const GROUPS = 8
/** A network of 64 bits, the least that a provider gives one customer (RFC 6177). */
const NETWORK_GROUPS = 4

/**
 * Returns the address of an IPv4 peer, the network of 64 bits of an IPv6 one: within it a caller can have any address.
 */
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

/** The last group may be written as an IPv4 address, which stands for two groups. */
function groupsOf(text: string): string[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
}
