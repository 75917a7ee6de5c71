// Where a token stands in storage, and what leads to it. All paths are below root/sys/:
//
//   token/key                      key of the hashes, made at initialisation
//   token/indexed                  there where all tokens are in the indexes of their ends and leases
//   token/id/HASH                  the entry
//   token/accessor/HASH            HASH of the token that has the accessor
//   token/parent/HASH/CHILD        empty: the child falls with its parent
//   token/expiry/SECONDS/HASH      empty: the token ends in this second since the epoch, twelve digits
//   token/gone/HASH                empty: the token is removed, its children or belongings are not all yet
//   lease/PATH/hHASH               empty: the token was made by a request to this path
import { ROOT_NAMESPACE } from '../storage/contract.ts'

export const SYSTEM_FOLDER = `${ROOT_NAMESPACE}/sys/`
/** Of root tokens that no request to an endpoint of tokens made: such a one has no lease. */
export const ROOT_TOKEN_PATH = 'auth/token/root'

export const ID_FOLDER = 'token/id/'
export const ACCESSOR_FOLDER = 'token/accessor/'
export const PARENT_FOLDER = 'token/parent/'
export const EXPIRY_FOLDER = 'token/expiry/'
export const GONE_FOLDER = 'token/gone/'
export const LEASE_FOLDER = 'lease/'
export const KEY_PATH = 'token/key'
export const INDEXED_PATH = 'token/indexed'

/** What of an entry (token-entry.ts) says where the token stands. */
type Placed = {
  readonly path: string
  readonly parent: string
  readonly expiry: { readonly never: true } | { readonly atMs: number }
}

const SECONDS_DIGITS = 12
const LAST_SECOND = 10 ** SECONDS_DIGITS - 1
const HASH_DIGITS = 64

export const idKey = (id: string): string => ID_FOLDER + id
export const goneKey = (id: string): string => GONE_FOLDER + id
export const parentKey = (parent: string, child: string): string => `${PARENT_FOLDER}${parent}/${child}`

/** Where the end of the token is noted; undefined for one that has none. */
export function expiryKey(id: string, { expiry }: Pick<Placed, 'expiry'>): string | undefined {
  if (!('atMs' in expiry)) return undefined
  const second = Math.min(Math.ceil(expiry.atMs / 1000), LAST_SECOND)
  return `${EXPIRY_FOLDER}${String(second).padStart(SECONDS_DIGITS, '0')}/${id}`
}

/** The name of the token's lease, as clients see it; undefined where it has none. */
export function leaseIdOf(id: string, entry: Pick<Placed, 'path' | 'expiry'>): string | undefined {
  if ('never' in entry.expiry && entry.path === ROOT_TOKEN_PATH) return undefined
  // A list whose answer is wrapped is the request of a folder.
  return `${entry.path.endsWith('/') ? entry.path : `${entry.path}/`}h${id}`
}

/** The keys that only lead to the token: written and removed with its entry. */
export function indexKeys(id: string, entry: Placed): string[] {
  const lease = leaseIdOf(id, entry)
  const expiry = expiryKey(id, entry)
  return [
    ...(entry.parent === '' ? [] : [parentKey(entry.parent, id)]),
    ...(expiry === undefined ? [] : [expiry]),
    ...(lease === undefined ? [] : [LEASE_FOLDER + lease]),
  ]
}

/** The token that a lease belongs to, and the path it was made by; undefined for a text that is no lease's name. */
export function parseLeaseId(leaseId: string): { readonly path: string; readonly id: string } | undefined {
  const slash = leaseId.lastIndexOf('/')
  const id = tokenOfLeaf(leaseId.slice(slash + 1))
  return slash <= 0 || id === undefined ? undefined : { path: leaseId.slice(0, slash), id }
}

/** From the last segment of a lease's name. */
export function tokenOfLeaf(leaf: string): string | undefined {
  if (leaf.length !== HASH_DIGITS + 1 || !leaf.startsWith('h')) return undefined
  for (let at = 1; at < leaf.length; at++) if (!'0123456789abcdef'.includes(leaf.charAt(at))) return undefined
  return leaf.slice(1)
}
