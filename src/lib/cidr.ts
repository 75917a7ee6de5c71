// Lists of addresses such as `token_bound_cidrs`: blocks in CIDR notation (RFC 4632), or single hosts.
import { BlockList, isIP } from 'node:net'

/** A block that cannot be read. The message tells its sender what is wrong. */
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

/** Returns the block as it is stored and read back: lower case, a single host without its length. @throws CidrError */
export function normalizeCidr(text: string): string {
  const { address, family, bits } = parse(text.trim().toLowerCase())
  return bits === BITS[family] ? address : `${address}/${bits}`
}

type Block = { readonly address: string; readonly family: Family; readonly bits: number }

function parse(text: string): Block {
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

/**
 * Matchers by the list itself. A token's entry has the same list at each request, and a list may have a thousand
 * blocks.
 */
const MATCHERS = new WeakMap<readonly string[], (address: string) => boolean>()

/** True if `address`, as a socket shows it, lies in one of the blocks, or if there are no blocks. */
export function isInCidrs(address: string, cidrs: readonly string[]): boolean {
  if (cidrs.length === 0) return true
  let matches = MATCHERS.get(cidrs)
  if (matches === undefined) {
    matches = cidrMatcher(cidrs)
    MATCHERS.set(cidrs, matches)
  }
  return matches(address)
}

/** Returns a matcher for many addresses. Unlike `isInCidrs`, no blocks match no address. @throws CidrError */
export function cidrMatcher(cidrs: readonly string[]): (address: string) => boolean {
  const holds = cidrs.length > LISTED_BLOCKS ? holdsByIndex(cidrs) : holdsByList(cidrs)
  return (address) => {
    const plain = plainAddress(address)
    const family = familyOf(plain)
    return family !== undefined && holds(plain, family)
  }
}

/** The runtime's list looks at each block. It is faster up to this many; for a thousand it takes milliseconds. */
const LISTED_BLOCKS = 32

type Holds = (address: string, family: Family) => boolean

function holdsByList(cidrs: readonly string[]): Holds {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const block = parse(cidr)
    list.addSubnet(block.address, block.bits, block.family)
  }
  return (address, family) => list.check(address, family)
}

/** Answers as `holdsByList` does: an IPv4 address lies in a block of IPv6 by its mapped form. */
function holdsByIndex(cidrs: readonly string[]): Holds {
  const index = new BlockIndex(cidrs.map((cidr) => bitsOf(parse(cidr))))
  return (address, family) => index.holds(bitsOf({ address, family, bits: BITS[family] }))
}

/** Returns an IPv4 peer of a socket for both families in IPv4 form; every other text unchanged. */
export function plainAddress(address: string): string {
  return address.toLowerCase().startsWith(MAPPED) ? address.slice(MAPPED.length) : address
}

/** Returns the addresses that lie in both lists, as blocks; none if there are none. Neither list may be empty. */
export function intersectCidrs(some: readonly string[], others: readonly string[]): readonly string[] {
  const [these, those] = [indexOf(some), indexOf(others)]
  // Two blocks never overlap in part: either one contains the other, or they are disjoint.
  const narrower = [
    ...some.filter((one) => those.holds(kindOf(one))),
    ...others.filter((one) => these.holds(kindOf(one))),
  ]
  return [...new Set(narrower)]
}

/** True if each of the inner blocks lies in one of the outer ones. */
export function areWithin(inner: readonly string[], outer: readonly string[]): boolean {
  const index = indexOf(outer)
  return inner.every((block) => index.holds(kindOf(block)))
}

/** The family is part of it, so that a block of one family lies in none of the other. */
function kindOf(cidr: string): string {
  const block = parse(cidr)
  return `${block.family} ${bitsOf(block)}`
}

const indexOf = (cidrs: readonly string[]): BlockIndex => new BlockIndex(cidrs.map(kindOf))

/**
 * Blocks by the bits that all their addresses begin with. A look-up costs one step for each length, not for each block.
 */
class BlockIndex {
  readonly #beginnings: ReadonlySet<string>
  readonly #lengths: readonly number[]

  constructor(beginnings: readonly string[]) {
    this.#beginnings = new Set(beginnings)
    this.#lengths = [...new Set(beginnings.map(({ length }) => length))]
  }

  /** True if an address that begins so lies in one of the blocks. */
  holds(beginning: string): boolean {
    return this.#lengths.some((length) => this.#beginnings.has(beginning.slice(0, length)))
  }
}

/** Returns the bits that all addresses of a block begin with; those of IPv4 in their mapped form. */
function bitsOf({ address, family, bits }: Block): string {
  if (family === 'ipv4') return MAPPED_BITS + digits(octetsOf(address), OCTET_BITS).slice(0, bits)
  return digits(groupsOf(address), GROUP_BITS).slice(0, bits)
}

const OCTET_BITS = 8
const GROUPS = 8
const GROUP_BITS = 16
const MAPPED_BITS = '0'.repeat(80) + '1'.repeat(16)

const digits = (values: readonly number[], width: number): string =>
  values.map((value) => value.toString(2).padStart(width, '0')).join('')

const octetsOf = (address: string): number[] => address.split('.').map(Number)

function groupsOf(address: string): number[] {
  const [head = '', tail = ''] = address.split('::')
  const [first, last] = [hexGroups(head), hexGroups(tail)]
  const zeros = Array.from({ length: GROUPS - first.length - last.length }, () => 0)
  return [...first, ...zeros, ...last]
}

/** The last group may be written as an IPv4 address, which stands for two groups. */
function hexGroups(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = octetsOf(group)
    return [a * 256 + b, c * 256 + d]
  })
}
