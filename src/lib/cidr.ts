// Lists of addresses as `token_bound_cidrs` and the like hold them: blocks in CIDR notation, or single hosts.
import { BlockList, isIP } from 'node:net'

/** Says what is wrong with a block, for the one who sent it. */
export class CidrError extends Error {
  override name = 'CidrError'
}

type Family = 'ipv4' | 'ipv6'
const BITS: Readonly<Record<Family, number>> = { ipv4: 32, ipv6: 128 }
/** How a socket that takes both families shows an IPv4 peer. */
const MAPPED = '::ffff:'

function familyOf(address: string): Family | undefined {
  const version = isIP(address)
  return version === 4 ? 'ipv4' : version === 6 && !address.includes('%') ? 'ipv6' : undefined
}

/**
 * The block as it is stored and read back: lower case, a single host without its length.
 * @throws CidrError
 */
export function normalizeCidr(text: string): string {
  const { address, family, bits } = parse(text.trim().toLowerCase())
  return bits === BITS[family] ? address : `${address}/${bits}`
}

function parse(text: string): { readonly address: string; readonly family: Family; readonly bits: number } {
  const slash = text.indexOf('/')
  const address = slash === -1 ? text : text.slice(0, slash)
  const family = familyOf(address)
  if (family === undefined) throw new CidrError('expected addresses or blocks such as 10.0.0.0/8 or 2001:db8::/32')
  const most = BITS[family]
  const length = slash === -1 ? String(most) : text.slice(slash + 1)
  const bits = Number(length)
  if (!Number.isInteger(bits) || bits < 0 || bits > most || String(bits) !== length) {
    throw new CidrError(`the length behind "/" is a whole number from 0 to ${most} for such an address`)
  }
  return { address, family, bits }
}

/** Whether `address`, as a socket shows it, lies in one of the blocks. No blocks: any address does. */
export function isInCidrs(address: string, cidrs: readonly string[]): boolean {
  return cidrs.length === 0 || cidrMatcher(cidrs)(address)
}

/** The same for many addresses, and no blocks hold none. @throws CidrError */
export function cidrMatcher(cidrs: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const block = parse(cidr)
    list.addSubnet(block.address, block.bits, block.family)
  }
  return (address) => {
    const plain = plainAddress(address)
    const family = familyOf(plain)
    return family !== undefined && list.check(plain, family)
  }
}

/** An IPv4 peer of a socket that takes both families as IPv4 writes it; every other text as it is. */
export function plainAddress(address: string): string {
  return address.toLowerCase().startsWith(MAPPED) ? address.slice(MAPPED.length) : address
}

/** The addresses that lie in both lists, as blocks of them; no block where none does. Neither list may be empty. */
export function intersectCidrs(some: readonly string[], others: readonly string[]): readonly string[] {
  // Two blocks lie one in the other, or apart.
  const narrower = some.flatMap((one) =>
    others.flatMap((other) => (isWithin(one, other) ? [one] : isWithin(other, one) ? [other] : [])),
  )
  return [...new Set(narrower)]
}

/** Whether every address of a block lies in another one. */
export function isWithin(inner: string, outer: string): boolean {
  const [a, b] = [parse(inner), parse(outer)]
  return a.family === b.family && a.bits >= b.bits && blockOf(b).check(a.address, a.family)
}

function blockOf({ address, bits, family }: ReturnType<typeof parse>): BlockList {
  const list = new BlockList()
  list.addSubnet(address, bits, family)
  return list
}
