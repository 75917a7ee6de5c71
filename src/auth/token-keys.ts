// Where tokens are stored, and the keys that lead to them. All paths are below root/sys/; HASH is the keyed hash of a
// token's text, its storage id.
//
//   token/key                      key of the hashes, made at initialisation
//   token/indexed                  present once all tokens are in the indexes of ends and leases
//   token/id/HASH                  the entry
//   token/accessor/HASH            hash of an accessor; holds the storage id of its token
//   token/accessor/ID/HASH         the same for a token of another namespace than the root, by the id of that
//   token/parent/HASH/CHILD        empty: the child falls with its parent
//   token/expiry/SECONDS/HASH      empty: the token ends in this second since the epoch, twelve digits
//   token/gone/HASH                empty: the token is removed, but not yet all its children and belongings
//   lease/PATH/hHASH               empty: the token was made by a request to this path
//   lease-of/ID/PATH/hHASH         the same for a token of another namespace than the root
//
// Tokens of all namespaces lie here, since one may be the parent of another one's, and falls in one commit with it.
import { idEnding, ROOT_ID, splitId } from '../api/namespace.ts'
import { ROOT_NAMESPACE } from '../storage/contract.ts'

/** The folder of all keys below. Views of this room are relative to it. */
export const SYSTEM_FOLDER = `${ROOT_NAMESPACE}/sys/`
/** Path of root tokens that were made by no request to auth/token/. Such a token has no lease if it never ends. */
export const ROOT_TOKEN_PATH = 'auth/token/root'

/** Folder of the entries, by storage id. */
export const ID_FOLDER = 'token/id/'
/** Folder of the accessors, by their keyed hash; those of other namespaces than the root are in folders in it. */
export const ACCESSOR_FOLDER = 'token/accessor/'
/** Folder of the children of each token. */
export const PARENT_FOLDER = 'token/parent/'
/** Folder of the ends of tokens; twelve digits of seconds make them sort by time. */
export const EXPIRY_FOLDER = 'token/expiry/'
/** Folder of the tokens whose removal is not finished. */
export const GONE_FOLDER = 'token/gone/'
/** Folders of the leases, which may be listed like paths: those of the root, and those of all other namespaces. */
export const LEASE_FOLDERS = ['lease/', 'lease-of/'] as const
/** Where the key of the hashes is stored. Without it no token can be found. */
export const KEY_PATH = 'token/key'
/** Exists once all tokens are indexed. */
export const INDEXED_PATH = 'token/indexed'

/** The members of an entry (token-entry.ts) from which its keys follow. */
type Placed = {
  readonly namespace: string
  readonly path: string
  readonly parent: string
  readonly expiry: { readonly never: true } | { readonly atMs: number }
}

const SECONDS_DIGITS = 12
const LAST_SECOND = 10 ** SECONDS_DIGITS - 1
const HASH_DIGITS = 64

/** Returns the key of a token's entry. */
export const idKey = (id: string): string => ID_FOLDER + id
/** Returns the key that marks a token as being removed. */
export const goneKey = (id: string): string => GONE_FOLDER + id
/** Returns the key by which a parent's removal finds the child. */
export const parentKey = (parent: string, child: string): string => `${PARENT_FOLDER}${parent}/${child}`

/** Returns the key that notes the token's end, rounded up to a second; undefined for a token that never ends. */
export function expiryKey(id: string, { expiry }: Pick<Placed, 'expiry'>): string | undefined {
  if (!('atMs' in expiry)) return undefined
  const second = Math.min(Math.ceil(expiry.atMs / 1000), LAST_SECOND)
  return `${EXPIRY_FOLDER}${String(second).padStart(SECONDS_DIGITS, '0')}/${id}`
}

/** Returns the folder of the accessors of a namespace's tokens. */
export const accessorFolder = (namespaceId: string): string =>
  namespaceId === ROOT_ID ? ACCESSOR_FOLDER : `${ACCESSOR_FOLDER}${namespaceId}/`

/** Returns the folder of the leases of a namespace. */
export const leaseFolder = (namespaceId: string): string =>
  namespaceId === ROOT_ID ? LEASE_FOLDERS[0] : `${LEASE_FOLDERS[1]}${namespaceId}/`

/** Returns the id of the token's lease, as clients see it; undefined if it has none. */
export function leaseIdOf(id: string, entry: Omit<Placed, 'parent'>): string | undefined {
  const name = leaseNameOf(id, entry)
  return name === undefined ? undefined : name + idEnding(entry.namespace)
}

/** Returns the name of the lease in the folder of its namespace. */
function leaseNameOf(id: string, entry: Pick<Placed, 'path' | 'expiry'>): string | undefined {
  if ('never' in entry.expiry && entry.path === ROOT_TOKEN_PATH) return undefined
  // A listing request has a path that ends in '/', and its wrapped answer has a token.
  return `${entry.path.endsWith('/') ? entry.path : `${entry.path}/`}h${id}`
}

/** Returns the keys that only lead to the token. They are written and removed in one transaction with its entry. */
export function indexKeys(id: string, entry: Placed): string[] {
  const lease = leaseNameOf(id, entry)
  const expiry = expiryKey(id, entry)
  return [
    ...(entry.parent === '' ? [] : [parentKey(entry.parent, id)]),
    ...(expiry === undefined ? [] : [expiry]),
    ...(lease === undefined ? [] : [leaseFolder(entry.namespace) + lease]),
  ]
}

/** Returns the storage id of the token that a lease belongs to; undefined if the text is no lease id. */
export function tokenOfLease(leaseId: string): string | undefined {
  const { own } = splitId(leaseId)
  const slash = own.lastIndexOf('/')
  return slash <= 0 ? undefined : tokenOfLeaf(own.slice(slash + 1))
}

/** Returns the storage id in the last segment of a stored lease; undefined if it is none. */
export function tokenOfLeaf(leaf: string): string | undefined {
  if (leaf.length !== HASH_DIGITS + 1 || !leaf.startsWith('h')) return undefined
  for (let at = 1; at < leaf.length; at++) if (!'0123456789abcdef'.includes(leaf.charAt(at))) return undefined
  return leaf.slice(1)
}
