// Addresses of other clusters: where their cluster port answers (`https://host:port`), and where their API does. Only
// tests call this as yet.

/** Longest address. A host name has at most 253 characters. */
export const MAX_ADDRESS_CHARACTERS = 300
/** The form alone: a parser of URLs puts right what it should not, such as slashes that are missing. */
const FORM = /^(https?:)\/\/(?:\[[0-9A-Fa-f:.]+\]|[!-~]+?)(:\d{1,5})?\/?$/
const NOT_IN_HOSTS = /[?#@\\]|\/\/.*\/./

/** Why the text cannot be the address of a cluster port, to continue a sentence; undefined for a good one. */
export function faultOfClusterAddress(text: string): string | undefined {
  const fault = faultOfAddress(text, ['https:'])
  return fault ?? (FORM.exec(text)?.[2] === undefined ? 'has no port: https://host:port' : undefined)
}

/** Likewise of an API. Plain http is for networks that are trusted: a token is unwrapped there as the address says. */
export function faultOfApiAddress(text: string): string | undefined {
  return faultOfAddress(text, ['https:', 'http:'])
}

function faultOfAddress(text: string, schemes: readonly string[]): string | undefined {
  if (text.length > MAX_ADDRESS_CHARACTERS) return `has more than ${MAX_ADDRESS_CHARACTERS} characters`
  const scheme = FORM.exec(text)?.[1] ?? ''
  if (!schemes.includes(scheme)) return `is no address that begins with ${schemes.join('// or ')}//`
  if (NOT_IN_HOSTS.test(text)) return 'has more than a host and a port'
  return URL.canParse(text) && new URL(text).host !== '' ? undefined : 'has a host or a port that cannot be'
}
