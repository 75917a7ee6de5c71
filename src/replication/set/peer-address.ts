// Addresses of other clusters: where their cluster port answers (`https://host:port`), and where their API does.
import type { LinkAddress } from '../../lib/links.ts'

/** Longest address. A host name has at most 253 characters. */
export const MAX_ADDRESS_CHARACTERS = 300
const HAS_PATH = /:\/\/[^/]*\/./
/** The form alone: a parser of URLs puts right what it should not, such as slashes that are missing. */
const FORM = /^(https?:)\/\/(?:\[[0-9A-Fa-f:.]+\]|[!-~]+?)(:\d{1,5})?\/?$/

/** Why the text cannot be the address of a cluster port, to continue a sentence; undefined for a good one. */
export function faultOfClusterAddress(text: string): string | undefined {
  const fault = faultOfAddress(text, ['https:']) ?? (HAS_PATH.test(text) ? 'has a path' : undefined)
  return fault ?? (FORM.exec(text)?.[2] === undefined ? 'has no port: https://host:port' : undefined)
}

/** Where a link to the address of a cluster port is dialed; undefined for one with a fault. */
export function linkAddressOf(text: string): LinkAddress | undefined {
  if (faultOfClusterAddress(text) !== undefined) return undefined
  // The parser leaves out the port that is usual for https.
  const { hostname, port } = new URL(text)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) }
}

/**
 * Likewise of an API, to which paths are appended: `api_addr` of the configuration may have a path of its own. Plain
 * http is for networks that are trusted.
 */
export function faultOfApiAddress(text: string): string | undefined {
  return faultOfAddress(text, ['https:', 'http:'])
}

function faultOfAddress(text: string, schemes: readonly string[]): string | undefined {
  if (text.length > MAX_ADDRESS_CHARACTERS) return `has more than ${MAX_ADDRESS_CHARACTERS} characters`
  const scheme = FORM.exec(text)?.[1] ?? ''
  if (!schemes.includes(scheme)) return `is no address that begins with ${schemes.join('// or ')}//`
  if (/[?#@\\]/.test(text) || text.startsWith(`${scheme}///`)) return 'has more than a host, a port and a path'
  return URL.canParse(text) && new URL(text).host !== '' ? undefined : 'has a host or a port that cannot be'
}
