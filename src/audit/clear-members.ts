// Decides which members a mount may declare readable. Most are the operator's choice. Credentials are not: a line of
// the log must not be as good as the credential (threats V-10).
import type { Endpoint } from '../api/endpoint.ts'
import type { MountEntry } from '../api/mount.ts'

/** Names of credentials on login mounts, in requests and answers, at any depth. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'jwt',
  'client_secret',
  'password',
  'password_hash',
  'secret_id',
  'token',
  'client_token',
])
/** The name under which `auth/token/` shows tokens themselves. */
const TOKEN_MEMBER = 'id'

/** Returns `names` without the credentials if callers log in at the mount; otherwise all of them. */
export function clearMembers(
  names: readonly string[] | undefined,
  mount: Pick<MountEntry, 'kind' | 'type'>,
  endpoint: Pick<Endpoint, 'fields'> | undefined,
): readonly string[] | undefined {
  if (names === undefined || mount.kind !== 'auth') return names
  return names.filter((name) => {
    if (CREDENTIALS.has(name) || (mount.type === 'token' && name === TOKEN_MEMBER)) return false
    const { fields = {} } = endpoint ?? {}
    return !(Object.hasOwn(fields, name) && fields[name]?.secret === true)
  })
}
