// Request headers that give access: what gives access here is recorded as client_token, as an HMAC; what gives access
// elsewhere, not at all. Nobody can ask for them, and a setting of an older version or a snapshot does not count.
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  'x-vault-token',
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-amz-security-token',
])
/** What existing clients log in with beside a request. */
const INLINE_LOGIN_HEADER = 'x-vault-inline-auth-parameter-'

/** `name` in lower case. */
export const isCredentialHeader = (name: string): boolean =>
  CREDENTIAL_HEADERS.has(name) || name.startsWith(INLINE_LOGIN_HEADER)
