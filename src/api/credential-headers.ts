// Request headers that give access. Those that give access here are recorded as client_token, as an HMAC; those that
// give access elsewhere are not recorded at all. No setting can change that, not even one stored by an older version or
// restored from a snapshot.
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  'x-vault-token',
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-amz-security-token',
])
/** Prefix of the headers by which existing clients log in within a request. */
const INLINE_LOGIN_HEADER = 'x-vault-inline-auth-parameter-'

/** True if the header must never be recorded or passed on. `name` is in lower case. */
export const isCredentialHeader = (name: string): boolean =>
  CREDENTIAL_HEADERS.has(name) || name.startsWith(INLINE_LOGIN_HEADER)
