// Reads what a proxy may write at the beginning of a connection: where the connection comes from (the PROXY protocol,
// versions 1 and 2). A header that departs from its specification ends the connection.
//
//   1   PROXY TCP4 203.0.113.7 192.0.2.1 51034 8200 CRLF               107 bytes at most
//   2   signature (12) | version, command (1) | family (1) | length (2) | addresses | further values, not read
import { isIPv4, isIPv6 } from 'node:net'
import { isDigit } from '../lib/ascii.ts'
import { plainAddress } from '../lib/cidr.ts'

/** The `proxy_protocol_…` settings of a listener. */
export type ProxyRules =
  /** Every connection begins with the header. */
  | { readonly behavior: 'use_always' }
  /**
   * `authorized` holds address blocks, from which the header is expected. Connections from elsewhere are taken without
   * it, or ended.
   */
  | { readonly behavior: 'allow_authorized' | 'deny_unauthorized'; readonly authorized: readonly string[] }

/** The result of reading the first bytes of a connection. */
export type ProxyHeader =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'malformed' }
  /**
   * `length` is that of the header in bytes. `address` is undefined if the proxy speaks for itself: then the peer
   * counts.
   */
  | { readonly kind: 'read'; readonly length: number; readonly address: string | undefined }

const MAX_V1_BYTES = 107
const V1_START = Buffer.from('PROXY ', 'latin1')
const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const V2_HEAD_BYTES = 16
/** Two IPv6 addresses with ports take 36 bytes; further values are skipped. */
const MAX_V2_BYTES = 1_024
const MAX_PORT = 65_535

const MALFORMED: ProxyHeader = { kind: 'malformed' }
const INCOMPLETE: ProxyHeader = { kind: 'incomplete' }

/** Reads the header; `bytes` is everything that has arrived. Call it again with more while it is incomplete. */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (bytes.length === 0) return INCOMPLETE
  return bytes[0] === SIGNATURE[0] ? readBinary(bytes) : readLine(bytes)
}

function readLine(bytes: Buffer): ProxyHeader {
  if (!beginsLike(bytes, V1_START)) return MALFORMED
  const end = bytes.subarray(0, MAX_V1_BYTES).indexOf('\r\n', 0, 'latin1')
  if (end === -1) return bytes.length < MAX_V1_BYTES ? INCOMPLETE : MALFORMED
  const length = end + 2
  const [, family, source = '', target = '', ...ports] = bytes.toString('latin1', 0, end).split(' ')
  if (family === 'UNKNOWN') return { kind: 'read', length, address: undefined }
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isPlainIPv6 : undefined
  if (isAddress === undefined || !isAddress(source) || !isAddress(target)) return MALFORMED
  if (ports.length !== 2 || !ports.every(isPort)) return MALFORMED
  return addressed(length, source)
}

function addressed(length: number, source: string): ProxyHeader {
  const address = plainAddress(source)
  // The IPv6 form of an IPv4 address, if not written with dots, could evade a rule for IPv4.
  const isHidden = address === source ? source.toLowerCase().startsWith('::ffff:') : !isIPv4(address)
  return isHidden ? MALFORMED : { kind: 'read', length, address }
}

const isPlainIPv6 = (text: string): boolean => isIPv6(text) && !text.includes('%')

function isPort(text: string): boolean {
  return (
    text !== '' && text.length <= 5 && [...text].every(isDigit) && String(Number(text)) === text && +text <= MAX_PORT
  )
}

function beginsLike(bytes: Buffer, start: Buffer): boolean {
  const compared = Math.min(bytes.length, start.length)
  return bytes.subarray(0, compared).equals(start.subarray(0, compared))
}

/** Length of an address by the byte for family and transport: TCP over IPv4, TCP over IPv6. */
const ADDRESS_BYTES: ReadonlyMap<number, number> = new Map([
  [0x11, 4],
  [0x21, 16],
])
const LOCAL = 0x20
const PROXY = 0x21

function readBinary(bytes: Buffer): ProxyHeader {
  if (!beginsLike(bytes, SIGNATURE)) return MALFORMED
  if (bytes.length < V2_HEAD_BYTES) return INCOMPLETE
  const [command, family] = [bytes[12], bytes[13]]
  const length = V2_HEAD_BYTES + bytes.readUInt16BE(14)
  if ((command !== LOCAL && command !== PROXY) || length > MAX_V2_BYTES) return MALFORMED
  if (bytes.length < length) return INCOMPLETE
  if (command === LOCAL) return { kind: 'read', length, address: undefined }
  const addressBytes = ADDRESS_BYTES.get(family ?? 0)
  // Two addresses and two ports.
  if (addressBytes === undefined || length < V2_HEAD_BYTES + 2 * addressBytes + 4) return MALFORMED
  const source = bytes.subarray(V2_HEAD_BYTES, V2_HEAD_BYTES + addressBytes)
  return { kind: 'read', length, address: addressBytes === 4 ? source.join('.') : groupsOf(source) }
}

/** Writes the address as text; a mapped IPv4 address in the form of IPv4. */
function groupsOf(bytes: Buffer): string {
  const isMapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes.readUInt16BE(10) === 0xffff
  if (isMapped) return bytes.subarray(12).join('.')
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16)).join(':')
}
