// The stored entries of mounts: where they lie, what is in them, and which of them always exist.
import { fail } from '../api/errors.ts'
import { MOUNT_MEMBERS, type MountEntry, type MountKind } from '../api/mount.ts'
import type { Sight } from '../api/node-role.ts'
import { own } from '../lib/own.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE, type Scope } from '../storage/contract.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import { storedRecord } from '../storage/stored-record.ts'

/** The folder that holds a namespace's own entries, those of its mounts among them. */
export const coreFolder = (namespaceId: string): string => `${namespaceId}/core/`
/** That of the root, where the entries of the server itself are, too. */
export const CORE_FOLDER = coreFolder(ROOT_NAMESPACE)
/**
 * Folders of the entries of mounts; the second is for mounts that stay out of replication. Tables are made in this
 * order, so a local mount hides one that a set shares at the same path, until it goes.
 */
export const MOUNT_FOLDERS = ['mounts/', 'local-mounts/'] as const
/** Folders of the entries of mounts whose data are being removed, in the same order. */
export const UNMOUNT_FOLDERS = ['unmounting/', 'local-unmounting/'] as const
/** Paths that no mount may take: the server's own mounts are there. */
const RESERVED = ['audit/', 'auth/', 'sys/', 'cubbyhole/', 'identity/']
/** The kind of mount that may lie below a reserved path after all. */
const KIND_BELOW: Readonly<Record<string, MountKind>> = { 'auth/': 'auth' }

/** A mount that the server makes by itself; `local`: it stays out of replication. */
export type AlwaysMounted = Pick<MountEntry, 'path' | 'type' | 'kind' | 'description'> & { readonly local?: boolean }

/**
 * The mounts that every server has, in the order in which versions added them. Initialisation writes the first two; the
 * rest are written when a store is opened that has them not yet.
 */
export const ALWAYS: readonly AlwaysMounted[] = [
  {
    path: 'sys/',
    type: 'system',
    kind: 'secret',
    description: 'system endpoints used for control, policy and debugging',
  },
  { path: 'auth/token/', type: 'token', kind: 'auth', description: 'token based credentials' },
  { path: 'identity/', type: 'identity', kind: 'secret', description: 'identity store' },
  {
    path: 'cubbyhole/',
    type: 'cubbyhole',
    kind: 'secret',
    description: 'per-token private secret storage',
    local: true,
  },
]

/** The types of those mounts. Each has exactly one mount, which cannot be added, moved or removed. */
export const SINGLETONS: ReadonlySet<string> = new Set(ALWAYS.map(({ type }) => type))

/** Returns an entry with a new UUID and accessor, and defaults for what is not given. Does not store it. */
export function newMountEntry(
  world: World,
  given: Pick<MountEntry, 'path' | 'type' | 'kind' | 'description'> & Partial<MountEntry>,
): MountEntry {
  return {
    format: 1,
    uuid: world.random.uuid(),
    namespace: ROOT_NAMESPACE,
    accessor: `${given.type}_${world.random.bytes(4).toString('hex')}`,
    options: {},
    local: false,
    sealWrap: false,
    externalEntropyAccess: false,
    config: { defaultLeaseTtlSeconds: 0, maxLeaseTtlSeconds: 0, forceNoCache: false, listingVisibility: '' },
    ...given,
  }
}

/** The namespace below which the data of the mount are stored: that in which it was made. */
const homeOf = ({ namespace, home }: MountEntry): string => home ?? namespace

/** The scope that decides whether the data of the mount are replicated. */
export const scopeOf = (entry: MountEntry): Scope => ({
  namespace: homeOf(entry),
  mount: entry.uuid,
  local: entry.local,
})

/** The folder of the mount's data. It is named by UUID, so it stays when the mount moves. */
export const dataFolder = (entry: MountEntry): string =>
  `${homeOf(entry)}/${entry.kind === 'auth' ? 'auth' : 'logical'}/${entry.uuid}/`

/** The key of the mount's entry below the folder of its namespace (`coreFolder`). */
export const mountKey = (entry: MountEntry): string => MOUNT_FOLDERS[entry.local ? 1 : 0] + entry.uuid

/** The key of the entry that keeps a removal going after an interruption. */
export const unmountKey = (entry: MountEntry): string => UNMOUNT_FOLDERS[entry.local ? 1 : 0] + entry.uuid

/** Returns all entries in these folders of a namespace. */
export async function readEntries(from: Pick<View, 'get' | 'list'>, folders: readonly string[]): Promise<MountEntry[]> {
  const entries: MountEntry[] = []
  for (const folder of folders) {
    for (const uuid of await from.list(folder)) {
      const bytes = await from.get(folder + uuid)
      if (bytes !== undefined) entries.push(decodeMountEntry(bytes))
    }
  }
  return entries
}

/** The stored form of a mount's entry (docs/storage-format.md). */
export const MOUNT_ENTRY = storedRecord('A mount entry', MOUNT_MEMBERS)
/** Returns the bytes of an entry, as they are stored. */
export const encodeMountEntry = MOUNT_ENTRY.encode
/** Reads stored bytes. @throws where they are not such an entry */
export const decodeMountEntry = MOUNT_ENTRY.decode

/** Checks that a mount of this kind may have its path. @throws Refusal `path_not_allowed` */
export function requireAllowedPath({ path, kind }: MountEntry): void {
  const reserved = RESERVED.find((prefix) => path.startsWith(prefix) && kind !== own(KIND_BELOW, prefix))
  if (reserved !== undefined) throw fail('path_not_allowed', [`cannot mount "${path}": ${reserved} is reserved`])
  if (kind === 'auth' && !path.startsWith('auth/'))
    throw fail('path_not_allowed', [`cannot mount "${path}": a login method belongs below auth/`])
}

/**
 * Returns another mount whose path contains this one's path or lies within it. Mounts must not nest: the longest path
 * would hide part of the other. Replication may bring a shared mount that nests with a local one all the same: then the
 * longest path is served.
 */
export async function overlapping(tx: ViewTransaction, { path, uuid }: MountEntry): Promise<MountEntry | undefined> {
  const entries = await readEntries(tx, MOUNT_FOLDERS)
  return entries.find((other) => other.uuid !== uuid && (path.startsWith(other.path) || other.path.startsWith(path)))
}

/**
 * Returns the stored entry with exactly this path; the local one, if it is seen and a set shares another at that path,
 * since the local one is served (MOUNT_FOLDERS).
 */
export async function storedAt(tx: ViewTransaction, path: string, sight: Sight): Promise<MountEntry | undefined> {
  return (await readEntries(tx, MOUNT_FOLDERS)).findLast((entry) => entry.path === path && isSeen(entry, sight))
}

/** Whether the mount is there for a request with this sight. */
export const isSeen = ({ local }: MountEntry, sight: Sight): boolean => sight === 'all' || !local

/** The path as endpoints under sys/auth and sys/mounts show it: without `auth/` for a login mount. */
export const shownPath = ({ kind, path }: MountEntry): string => (kind === 'auth' ? path.slice('auth/'.length) : path)

/** The former paths of a mount that moves to `to`. */
export function formerPathsOf({ path, formerPaths = [] }: MountEntry, to: string): Partial<MountEntry> {
  return { formerPaths: [...new Set([...formerPaths, path])].filter((former) => former !== to) }
}

/** The former namespaces of a mount that moves to another one. */
export function formerNamespacesOf({ namespace, formerNamespaces = [] }: MountEntry, to: string): readonly string[] {
  return [...new Set([...formerNamespaces, namespace])].filter((former) => former !== to)
}
