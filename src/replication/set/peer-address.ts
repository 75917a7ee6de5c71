// Addresses of other clusters: where their cluster port answers (`https://host:port`), and where their API does. Only
// tests call this as yet.

/** Longest address. A host name has at most 253 characters. */
export const MAX_ADDRESS_CHARACTERS = 300
const ENDS_IN_PORT = /:\d{1,5}\/?$/

/** Why the text cannot be the address of a cluster port, to continue a sentence; undefined for a good one. */
export function faultOfClusterAddress(text: string): string | undefined {
  return faultOfAddress(text, ['https:']) ?? (ENDS_IN_PORT.test(text) ? undefined : 'has no port: https://host:port')
}

/** Likewise of an API. Plain http is for networks that are trusted: a token is unwrapped there as the address says. */
export function faultOfApiAddress(text: string): string | undefined {
  return faultOfAddress(text, ['https:', 'http:'])
}

function faultOfAddress(text: string, schemes: readonly string[]): string | undefined {
  if (text.length > MAX_ADDRESS_CHARACTERS) return `has more than ${MAX_ADDRESS_CHARACTERS} characters`
  const url = /^[\x21-\x7e]+$/.test(text) ? URL.parse(text) : null
  if (url === null || !schemes.includes(url.protocol))
    return `does not begin with ${schemes.join('// or ')}// and a host`
  const isBare = url.username === '' && url.password === '' && url.pathname === '/' && url.search === ''
  // An empty query or fragment leaves no trace in the parts.
  return isBare && !/[?#@\\]/.test(text) ? undefined : 'has more than a host and a port'
}
