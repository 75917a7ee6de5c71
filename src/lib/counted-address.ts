// The unit of limits by address.
import { isIPv6 } from 'node:net'
import { plainAddress } from './cidr.ts'

/**
 * Returns the address of an IPv4 peer, the network of 64 bits of an IPv6 one: a host has a whole such network, and can
 * speak from any address in it.
 */
export function countedAddress(address: string): string {
  const plain = plainAddress(address)
  if (!isIPv6(plain)) return plain
  const [left = '', right] = (plain.split('%')[0] ?? '').split('::')
  const groups = left === '' ? [] : left.split(':')
  if (right !== undefined) {
    const behind = right === '' ? [] : right.split(':')
    // An IPv4 address at the end stands for two groups.
    const written = groups.length + behind.length + (behind.at(-1)?.includes('.') === true ? 1 : 0)
    groups.push(...Array.from({ length: 8 - written }, () => '0'), ...behind)
  }
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}
