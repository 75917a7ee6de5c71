// The stored entries of mounts: where they lie, what is in them, and which there always are.
import { fail } from '../api/errors.ts'
import { MOUNT_MEMBERS, type MountEntry, type MountKind } from '../api/mount.ts'
import { own } from '../lib/own.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE, type Scope } from '../storage/contract.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import { storedRecord } from '../storage/stored-record.ts'

export const CORE_FOLDER = `${ROOT_NAMESPACE}/core/`
export const MOUNT_FOLDERS = ['mounts/', 'local-mounts/'] as const
export const UNMOUNT_FOLDERS = ['unmounting/', 'local-unmounting/'] as const
const RESERVED = ['audit/', 'auth/', 'sys/', 'cubbyhole/', 'identity/']
/** What may be mounted below a reserved path nevertheless. */
const KIND_BELOW: Readonly<Record<string, MountKind>> = { 'auth/': 'auth' }

export type AlwaysMounted = Pick<MountEntry, 'path' | 'type' | 'kind' | 'description'> & { readonly local?: boolean }

/** In the order in which they came to be: a store that an older version made gets the later ones when it is opened. */
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

/** Types of which there is exactly one mount, always. */
export const SINGLETONS: ReadonlySet<string> = new Set(ALWAYS.map(({ type }) => type))

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

export const scopeOf = (entry: MountEntry): Scope => ({
  namespace: entry.namespace,
  mount: entry.uuid,
  local: entry.local,
})

export const dataFolder = (entry: MountEntry): string =>
  `${entry.namespace}/${entry.kind === 'auth' ? 'auth' : 'logical'}/${entry.uuid}/`

export const mountKey = (entry: MountEntry): string => MOUNT_FOLDERS[entry.local ? 1 : 0] + entry.uuid

export const unmountKey = (entry: MountEntry): string => UNMOUNT_FOLDERS[entry.local ? 1 : 0] + entry.uuid

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

export const MOUNT_ENTRY = storedRecord('A mount entry', MOUNT_MEMBERS)
export const encodeMountEntry = MOUNT_ENTRY.encode
export const decodeMountEntry = MOUNT_ENTRY.decode

/** @throws Refusal where mounts of this kind do not belong */
export function requireAllowedPath({ path, kind }: MountEntry): void {
  const reserved = RESERVED.find((prefix) => path.startsWith(prefix) && kind !== own(KIND_BELOW, prefix))
  if (reserved !== undefined) throw fail('path_not_allowed', [`cannot mount "${path}": ${reserved} is reserved`])
  if (kind === 'auth' && !path.startsWith('auth/'))
    throw fail('path_not_allowed', [`cannot mount "${path}": a login method belongs below auth/`])
}

/** A mount that the path lies in or around, but for the mount itself. */
export async function overlapping(tx: ViewTransaction, { path, uuid }: MountEntry): Promise<MountEntry | undefined> {
  const entries = await readEntries(tx, MOUNT_FOLDERS)
  return entries.find((other) => other.uuid !== uuid && (path.startsWith(other.path) || other.path.startsWith(path)))
}

export async function storedAt(tx: ViewTransaction, path: string): Promise<MountEntry | undefined> {
  return (await readEntries(tx, MOUNT_FOLDERS)).find((entry) => entry.path === path)
}

/** As the endpoints under sys/auth and sys/mounts name it. */
export const shownPath = ({ kind, path }: MountEntry): string => (kind === 'auth' ? path.slice('auth/'.length) : path)

/** Of a login mount that gets the path `to`. */
export function formerPathsOf({ kind, path, formerPaths = [] }: MountEntry, to: string): Partial<MountEntry> {
  if (kind !== 'auth') return {}
  return { formerPaths: [...new Set([...formerPaths, path])].filter((former) => former !== to) }
}
