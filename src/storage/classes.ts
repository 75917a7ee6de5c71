// The class of each stored key, in one table. The class decides which clusters get an entry, so a key that no row
// covers cannot be written. The allowed form of keys and values is here too, since both checks are made together.
import { MAX_KEY_BYTES, MAX_VALUE_BYTES, type Scope, type StorageClass, SYSTEM_SCOPE } from './contract.ts'
import { StorageRefused, StorageTooLarge, UnknownPrefix } from './errors.ts'
import type { ReplicationFamily } from './peer-log.ts'

/**
 * A row of the table. `mount`: the next segment is a mount's UUID; its `local` decides the class, but not in the
 * folders of OWN_FOLDERS.
 */
type Rule = { readonly path: string; readonly class: StorageClass | 'mount' }

/**
 * Paths after the namespace segment. One that ends in '/' covers all keys below it, any other is one key; the first row
 * that covers a key decides. Stores and their logs hold the class, so a row may be added but not changed, and a row of
 * another class may be added only for keys that no store has yet (docs/storage-format.md has the same table).
 */
export const CLASSES: readonly Rule[] = [
  { path: 'logical/', class: 'mount' },
  { path: 'auth/', class: 'mount' },
  { path: 'sys/token/', class: 'local' },
  { path: 'sys/cubbyhole/', class: 'local' },
  { path: 'sys/cubbyhole-size/', class: 'local' },
  { path: 'sys/lease/', class: 'local' },
  { path: 'sys/lease-of/', class: 'local' },
  { path: 'sys/cubbyhole-of/', class: 'local' },
  { path: 'sys/token-role/', class: 'replicated' },
  { path: 'sys/policy/', class: 'replicated' },
  { path: 'sys/password-policy/', class: 'replicated' },
  { path: 'sys/config/', class: 'replicated' },
  { path: 'sys/quota/', class: 'replicated' },
  { path: 'sys/managed-key/', class: 'replicated' },
  { path: 'sys/identity/', class: 'replicated' },
  { path: 'sys/local-identity/', class: 'local' },
  { path: 'core/namespace/', class: 'replicated' },
  { path: 'core/leaving-namespace/', class: 'replicated' },
  { path: 'core/gone-namespace/', class: 'replicated' },
  { path: 'core/mounts/', class: 'replicated' },
  { path: 'core/local-mounts/', class: 'local' },
  { path: 'core/unmounting/', class: 'replicated' },
  { path: 'core/local-unmounting/', class: 'local' },
  { path: 'core/audit/', class: 'replicated' },
  { path: 'core/local-audit/', class: 'local' },
  { path: 'core/declared-audit/', class: 'ignored' },
  { path: 'core/audit-key', class: 'local' },
  { path: 'core/audit-headers', class: 'replicated' },
  { path: 'core/audit-origin', class: 'local' },
  { path: 'core/audit-history', class: 'ignored' },
  { path: 'core/keyring', class: 'replicated' },
  { path: 'core/former-keys', class: 'local' },
  { path: 'core/replaced-keys', class: 'ignored' },
  { path: 'core/key-use', class: 'ignored' },
  { path: 'core/rotation', class: 'replicated' },
  { path: 'core/reload/', class: 'ignored' },
  { path: 'core/global-reload/', class: 'replicated' },
  { path: 'core/version/', class: 'ignored' },
  { path: 'core/tree-checks', class: 'ignored' },
  { path: 'core/purge', class: 'ignored' },
  { path: 'core/leaf-key', class: 'replicated' },
  { path: 'core/wrapping-key', class: 'replicated' },
  { path: 'core/index-key', class: 'replicated' },
  { path: 'core/lost-writes', class: 'replicated' },
  { path: 'core/plugin-identity/', class: 'replicated' },
  { path: 'core/local-plugin-identity/', class: 'local' },
  { path: 'core/cluster', class: 'ignored' },
  { path: 'core/replication/performance/', class: 'local' },
  { path: 'core/replication/former/', class: 'local' },
  { path: 'core/replication/', class: 'ignored' },
  { path: 'core/undone/', class: 'ignored' },
  { path: 'core/seal-config', class: 'ignored' },
  { path: 'core/root-key', class: 'ignored' },
  { path: 'core/recovery-key', class: 'ignored' },
  { path: 'core/unseal-shares-backup', class: 'ignored' },
  { path: 'core/recovery-shares-backup', class: 'ignored' },
]

/**
 * First folders of a mount that stay with the cluster or the server, also in a mount that is shared: what a cluster
 * counted or asked for itself. The class follows from the key alone, so no entry can change it.
 */
const OWN_FOLDERS: readonly { readonly folder: string; readonly class: StorageClass }[] = [
  { folder: 'cluster/', class: 'local' },
  { folder: 'node/', class: 'ignored' },
]

/** These folders. */
export const OWN_PARTS: readonly string[] = OWN_FOLDERS.map(({ folder }) => folder)

/** Classes whose entries go over each family of replication. */
export const SENT_CLASSES: Readonly<Record<ReplicationFamily, ReadonlySet<StorageClass>>> = {
  dr: new Set<StorageClass>(['replicated', 'local']),
  performance: new Set<StorageClass>(['replicated']),
}

/**
 * Records that open the barrier cannot lie behind it: they are sealed by other keys, or in clear. Undone records are
 * sealed by the root key, since they must outlive the keyring. A purge goes on while the store is sealed. A path that
 * ends in '/' is a folder.
 */
const BEFORE_THE_BARRIER = [
  'core/keyring',
  'core/former-keys',
  'core/replaced-keys',
  'core/key-use',
  'core/seal-config',
  'core/root-key',
  'core/recovery-key',
  'core/undone/',
  'core/purge',
]

/** True if the value at a stored key is sealed by a key of the keyring. */
export function isBehindBarrier(key: string): boolean {
  const path = key.slice(key.indexOf('/') + 1)
  return !BEFORE_THE_BARRIER.some((one) => (one.endsWith('/') ? path.startsWith(one) : path === one))
}

/** Where class ignored can lie outside of mounts: keys, and folders that end in '/', after the namespace. */
export const IGNORED_OF_SYSTEM: readonly string[] = CLASSES.filter(
  ({ class: storageClass }) => storageClass === 'ignored',
).map(({ path }) => path)
/** The part of them that lies behind the barrier. */
export const IGNORED_BEHIND_BARRIER: readonly string[] = IGNORED_OF_SYSTEM.filter(
  (path) => !BEFORE_THE_BARRIER.includes(path),
)
/** Folders of mounts; each mount has a folder of class ignored of its own. */
export const FOLDERS_OF_MOUNTS: readonly string[] = CLASSES.filter(
  ({ class: storageClass }) => storageClass === 'mount',
).map(({ path }) => path)
/** Folders of class ignored inside a mount. */
export const IGNORED_IN_MOUNTS: readonly string[] = OWN_FOLDERS.filter(
  ({ class: storageClass }) => storageClass === 'ignored',
).map(({ folder }) => folder)

/** The data keys: what is sealed under one of them can be read only where they came first. */
const DATA_KEYS: readonly string[] = ['root/core/keyring', 'root/core/former-keys']

/** Data keys that go over the family. */
export const dataKeysOver = (family: ReplicationFamily): readonly string[] =>
  DATA_KEYS.filter((key) => [...SENT_CLASSES[family]].some((storageClass) => mayHaveClass(key, storageClass)))

const UUID_CHARACTERS = 36

/** The class of a key in its scope. @throws StorageRefused for a malformed key, no class, or a scope not the key's */
export function classify(scope: Scope, key: string): StorageClass {
  requireKey(key)
  const pathAt = key.indexOf('/') + 1
  const namespace = key.slice(0, Math.max(pathAt - 1, 0))
  if (namespace !== scope.namespace) throw new StorageRefused(`The key ${key} is not in the namespace of its scope`)
  const rule = CLASSES.find(
    ({ path }) => key.startsWith(path, pathAt) && (path.endsWith('/') || key.length === pathAt + path.length),
  )
  if (rule === undefined) throw new UnknownPrefix(`The key ${key} has a prefix that is in no class`)
  if (rule.class === 'mount') return classOfMount(scope, key, pathAt + rule.path.length)
  if (scope.mount !== SYSTEM_SCOPE || scope.local)
    throw new StorageRefused(`The key ${key} belongs to the system's scope`)
  return rule.class
}

function classOfMount(scope: Scope, key: string, mountAt: number): StorageClass {
  const mountEnd = key.indexOf('/', mountAt)
  const mount = mountEnd === -1 ? '' : key.slice(mountAt, mountEnd)
  if (!isUuid(mount)) throw new StorageRefused(`The key ${key} does not name a mount by its UUID`)
  if (mount !== scope.mount) throw new StorageRefused(`The key ${key} belongs to another mount than its scope`)
  const own = OWN_FOLDERS.find(({ folder }) => key.startsWith(folder, mountEnd + 1))
  return own?.class ?? (scope.local ? 'local' : 'replicated')
}

/** The namespace of a stored key: its first segment. */
export function namespaceOfKey(key: string): string {
  return key.slice(0, key.indexOf('/'))
}

/** UUID of the mount that a stored key belongs to, or SYSTEM_SCOPE. The caller has passed the key to `classify`. */
export function mountOfKey(key: string): string {
  const [, folder, mount] = key.split('/', 3)
  return (folder === 'logical' || folder === 'auth') && mount !== undefined ? mount : SYSTEM_SCOPE
}

/** Folders of the system with one entry a mount, named by its UUID. */
const FOLDERS_BY_MOUNT = [
  'core/mounts/',
  'core/local-mounts/',
  'core/unmounting/',
  'core/local-unmounting/',
  'core/reload/',
  'core/global-reload/',
]

/**
 * UUID of the mount that an entry stands or falls with, or SYSTEM_SCOPE. Filters of replication go by it, and so does
 * the tree: besides the data of a mount it takes the entry of the mount itself, which a filtered secondary lacks too.
 * What merely names a mount, as aliases and quotas do, is of the system. The caller has passed the key to `classify`.
 */
export function filteredMountOf(key: string): string {
  const pathAt = key.indexOf('/') + 1
  const folder = FOLDERS_BY_MOUNT.find((path) => key.startsWith(path, pathAt))
  const name = folder === undefined ? '' : key.slice(pathAt + folder.length)
  return isUuid(name) ? name : mountOfKey(key)
}

/**
 * Folders of the root namespace with entries of all: below a folder of any kind, what is of another namespace lies in
 * one that its id names (src/identity/records.ts).
 */
export const FOLDERS_OF_ALL: readonly string[] = ['root/sys/identity/', 'root/sys/local-identity/']

/**
 * Id of the namespace that an entry stands or falls with. Filters of replication go by it, and so does the tree. The
 * root's own entries have a UUID, an accessor or nothing more where others have the id, which is of letters and digits.
 */
export function filteredNamespaceOf(key: string): string {
  const folder = FOLDERS_OF_ALL.find((one) => key.startsWith(one))
  const [, id, more] = folder === undefined ? [] : key.slice(folder.length).split('/', 3)
  return id !== undefined && more !== undefined && isLettersAndDigits(id) ? id : namespaceOfKey(key)
}

/** Folders of the root namespace with one entry a namespace, named by its parent and its name. */
const FOLDERS_BY_NAMESPACE = ['root/core/namespace/', 'root/core/leaving-namespace/']

/** Keys of the entries that a mount may have outside of its folder. */
export const entriesOfMount = (namespace: string, mount: string): readonly string[] =>
  FOLDERS_BY_MOUNT.map((folder) => `${namespace}/${folder}${mount}`)
/** Keys of the entries that a namespace may have, by its `PARENT/NAME`. */
export const entriesOfNamespace = (entry: string): readonly string[] =>
  FOLDERS_BY_NAMESPACE.map((folder) => folder + entry)

/** `PARENT/NAME` of the namespace whose entry this is, also while it is being deleted; undefined for any other key. */
export function namespaceEntryOf(key: string): string | undefined {
  const folder = FOLDERS_BY_NAMESPACE.find((path) => key.startsWith(path))
  return folder === undefined ? undefined : key.slice(folder.length)
}

/**
 * The scope of an entry that is stored under this key with this class. An entry of a local mount is local, but for what
 * its folder makes something else; such an entry counts as one of a shared mount.
 */
export function scopeOfKey(key: string, storageClass: StorageClass): Scope {
  const mount = mountOfKey(key)
  const scope = { namespace: namespaceOfKey(key), mount, local: false }
  return { ...scope, local: mount !== SYSTEM_SCOPE && storageClass === 'local' && !isOwnPart(key) }
}

/** True for what a cluster or a server keeps of a mount for itself. */
export function isOwnPart(key: string): boolean {
  const [, , , folder] = key.split('/', 4)
  return mountOfKey(key) !== SYSTEM_SCOPE && OWN_PARTS.includes(`${folder}/`)
}

/**
 * True if the key allows this class. It cannot tell whether the mount is `local`: both answers pass for a key of a
 * mount, unless its folder decides.
 */
export function mayHaveClass(key: string, storageClass: StorageClass): boolean {
  try {
    return classify(scopeOfKey(key, storageClass), key) === storageClass
  } catch (cause) {
    if (cause instanceof StorageRefused) return false
    throw cause
  }
}

function isLettersAndDigits(text: string): boolean {
  return /^[0-9A-Za-z]+$/.test(text)
}

function isUuid(text: string): boolean {
  if (text.length !== UUID_CHARACTERS) return false
  for (let at = 0; at < text.length; at++) {
    const dash = at === 8 || at === 13 || at === 18 || at === 23
    if (dash ? text[at] !== '-' : !'0123456789abcdef'.includes(text.charAt(at))) return false
  }
  return true
}

/** @throws StorageRefused for a key that cannot be stored; the message quotes the key only if it can be printed */
function requireKey(key: string): void {
  const fault = faultOfKey(key)
  if (fault !== undefined) throw new StorageRefused(fault)
}

/**
 * Why `key` cannot be stored, as a sentence; undefined for a good key. Dots and empty segments are refused since a key
 * may be taken for a path (threats C-06). Control characters are refused since keys stand in messages, and key-order.ts
 * relies on there being no NUL.
 */
export function faultOfKey(key: string): string | undefined {
  if (key.length > MAX_KEY_BYTES || Buffer.byteLength(key) > MAX_KEY_BYTES) {
    return `A key has more than ${MAX_KEY_BYTES} bytes`
  }
  if (!key.isWellFormed()) return 'A key is not well-formed text'
  if (hasControlCharacter(key)) return 'A key holds a control character'
  for (const segment of key.split('/')) {
    if (segment === '') return `The key "${key}" has an empty segment`
    if (segment === '.' || segment === '..') return `The key "${key}" has a segment "${segment}"`
  }
  return undefined
}

function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x20 || (unit >= 0x7f && unit < 0xa0)) return true
  }
  return false
}

/** @throws StorageTooLarge for a value that is longer than MAX_VALUE_BYTES (threats D-02) */
export function requireValue(key: string, value: Buffer): void {
  if (value.length > MAX_VALUE_BYTES) {
    const message = `The value of ${key} has ${value.length} bytes, at most ${MAX_VALUE_BYTES} are stored`
    throw new StorageTooLarge(message, MAX_VALUE_BYTES)
  }
}
