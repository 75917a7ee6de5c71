// The mounts as they are stored, one entry for each, and their data:
//
//   NAMESPACE/core/mounts/UUID              the mount
//   NAMESPACE/core/unmounting/UUID          a mount whose data are being removed; finished at the next start if
//                                           interrupted
//   NAMESPACE/core/local-mounts/UUID        the same two for a mount that stays out of replication: what is local about
//   NAMESPACE/core/local-unmounting/UUID    it is stored in a class of its own
//   HOME/logical/UUID/…                     its data (HOME/auth/UUID/… for a login mount); HOME is the id of the
//                                           namespace in which it was made
import { fail } from '../api/errors.ts'
import type { MountEntry, MountInNamespace, NamespacedPath } from '../api/mount.ts'
import type { Namespace } from '../api/namespace.ts'
import type { Sight } from '../api/node-role.ts'
import type { World } from '../lib/world.ts'
import { requireAlive } from '../namespaces/namespace-store.ts'
import { LEAVING_FOLDER, NAMESPACE_FOLDER, namespaceKey, scopeOfNamespace } from '../namespaces/records.ts'
import { OWN_PARTS } from '../storage/classes.ts'
import { type Reader, ROOT_NAMESPACE, type Scope } from '../storage/contract.ts'
import { WriteNotAllowed } from '../storage/errors.ts'
import type { Folders, SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'
import { wipeFolder } from '../storage/wipe-folder.ts'
import {
  ALWAYS,
  type AlwaysMounted,
  coreFolder,
  dataFolder,
  decodeMountEntry,
  encodeMountEntry,
  formerNamespacesOf,
  formerPathsOf,
  MOUNT_FOLDERS,
  mountKey,
  newMountEntry,
  overlapping,
  readEntries,
  requireAllowedPath,
  SINGLETONS,
  scopeOf,
  shownPath,
  storedAt,
  UNMOUNT_FOLDERS,
  unmountKey,
} from './mount-entries.ts'

class MountIsHere extends Error {}

/** Removes what belongs to a mount besides its data. Must bear to be called again, after an interruption. */
export type RemovalWork = (entry: MountEntry) => Promise<void>

/** True if this store is not whole, so that what is missing in it may still come. */
export type IsUnsure = (raw: Reader) => Promise<boolean>

/** A stored mount, and the key of its entry. */
export type KeyedMount = { readonly key: string; readonly entry: MountEntry }

/** Reads and changes the stored mounts. Changes are made on the writing thread alone; each is one transaction. */
export class StoredMounts {
  readonly #storage: Pick<SealedStorage, 'view' | 'transaction'>
  readonly #removals: readonly RemovalWork[]

  constructor(storage: Pick<SealedStorage, 'view' | 'transaction'>, removals: readonly RemovalWork[]) {
    this.#storage = storage
    this.#removals = removals
  }

  #coreOf(namespaceId: string): View {
    return this.#storage.view(scopeOfNamespace(namespaceId), coreFolder(namespaceId))
  }

  /** Returns the entries of all mounts of a namespace; not of those being removed. */
  async all(namespaceId: string): Promise<KeyedMount[]> {
    const entries = await readEntries(this.#coreOf(namespaceId), MOUNT_FOLDERS)
    return entries.map((entry) => ({ key: entryKey(entry), entry }))
  }

  /** The entry at a stored key; undefined if it is gone. */
  async at(key: string): Promise<MountEntry | undefined> {
    const namespaceId = key.slice(0, key.indexOf('/'))
    const bytes = await this.#coreOf(namespaceId).get(key.slice(coreFolder(namespaceId).length))
    return bytes === undefined ? undefined : decodeMountEntry(bytes)
  }

  /**
   * Returns those of some mounts that have no entry in their namespace, all as of one moment. Undefined: `isUnsure`
   * says that an entry may only have been missing for a while then.
   */
  goneOf(mounts: readonly MountInNamespace[], isUnsure: IsUnsure): Promise<readonly MountInNamespace[] | undefined> {
    return this.#storage.transaction(async ({ raw }) => {
      if (await isUnsure(raw)) return undefined
      const gone: MountInNamespace[] = []
      for (const mount of mounts) if (!(await isStored(raw, mount))) gone.push(mount)
      return gone
    })
  }

  /**
   * Returns the view for the engine of the mount. Its commits are refused as soon as the mount is being removed: one
   * that came later would leave data that no mount owns. `mount` returns the entry as it is at the call.
   */
  dataOf(mount: () => MountEntry): View {
    const entry = mount()
    return this.#storage.view(scopeOf(entry), dataFolder(entry), async (tx) => {
      if ((await tx.get(entryKey(mount()))) === undefined) throw fail('no_route', [mount().path])
    })
  }

  /** @throws Refusal for a path that is reserved or in use, and if the namespace is gone meanwhile */
  async add(entry: MountEntry, namespace: Namespace): Promise<void> {
    requireAllowedPath(entry)
    await this.#storage.transaction(async (folders) => {
      const tx = await this.#openFor(folders, entry, namespace)
      const taken = await overlapping(tx, entry)
      // Wire text.
      if (taken !== undefined) throw fail('path_in_use', [`path is already in use at ${shownPath(taken)}`])
      tx.put(mountKey(entry), encodeMountEntry(entry))
    })
  }

  /** The folder for a mount that comes into the namespace. @throws Refusal if no mount may have its path there */
  async #openFor(folders: Folders, { path }: MountEntry, namespace: Namespace): Promise<ViewTransaction> {
    await requireAlive(folders.raw, namespace)
    // A path that begins with the name of a namespace would lie in it.
    const [name = ''] = path.split('/', 1)
    for (const folder of [NAMESPACE_FOLDER, LEAVING_FOLDER])
      if ((await folders.raw.get(folder + namespaceKey({ parent: namespace.id, name }))) !== undefined)
        throw fail('path_in_use', [`existing mount at ${name}/: a namespace has that name`])
    return folders.at(scopeOfNamespace(namespace.id), coreFolder(namespace.id))
  }

  /**
   * `always`: the mounts that the namespace has without an entry; such a one gets its entry now.
   * @throws Refusal where no mount is at the path, if the namespace is gone meanwhile, and what `change` throws
   */
  async tune(
    { namespace, path }: NamespacedPath,
    change: (entry: MountEntry) => MountEntry,
    always: readonly MountEntry[],
    sight: Sight,
  ): Promise<void> {
    await this.#storage.transaction(async (folders) => {
      await requireAlive(folders.raw, namespace)
      const tx = folders.at(scopeOfNamespace(namespace.id), coreFolder(namespace.id))
      const entry = (await storedAt(tx, path, sight)) ?? always.find((one) => one.path === path)
      if (entry === undefined) throw fail('no_such_entry', [`no mount at "${path}"`])
      tx.put(mountKey(entry), encodeMountEntry(change(entry)))
    })
  }

  /**
   * @throws Refusal where no mount is at `from` or it cannot be moved, for a `to` that is reserved or in use, and if
   * either namespace is gone, or going: its deletion takes its mounts along
   */
  async move(from: NamespacedPath, to: NamespacedPath, sight: Sight): Promise<void> {
    await this.#storage.transaction(async (folders) => {
      await requireAlive(folders.raw, from.namespace)
      const source = folders.at(scopeOfNamespace(from.namespace.id), coreFolder(from.namespace.id))
      const entry = await storedAt(source, from.path, sight)
      if (entry === undefined) throw fail('no_such_entry', [`no matching mount at "${from.path}"`]) // Wire text.
      if (SINGLETONS.has(entry.type)) throw fail('part_of_server', [`cannot remount "${from.path}"`])
      const moved = movedTo(entry, to)
      requireAllowedPath(moved)
      const target = await this.#openFor(folders, moved, to.namespace)
      const taken = await overlapping(target, moved)
      // Wire text.
      if (taken !== undefined) throw fail('path_in_use', [`path already in use at "${shownPath(taken)}"`])
      if (from.namespace.id !== to.namespace.id) source.delete(mountKey(entry))
      target.put(mountKey(entry), encodeMountEntry(moved))
    })
  }

  /**
   * Ends the service of the mount. Its data stay until `wipe`, or until `finishRemovals` after an interruption. Returns
   * false, and does nothing, if the mount left the namespace meanwhile: its data are in use elsewhere, or gone.
   */
  remove(entry: MountEntry): Promise<boolean> {
    return this.#coreOf(entry.namespace).transaction(async (tx) => {
      if ((await tx.get(mountKey(entry))) === undefined) return false
      tx.delete(mountKey(entry))
      tx.put(unmountKey(entry), encodeMountEntry(entry))
      return true
    })
  }

  /** Wipes the data of every local mount of the namespace, or of every other one, whose removal was interrupted. */
  async finishRemovals(namespaceId: string, isLocal: boolean): Promise<void> {
    const entries = await readEntries(this.#coreOf(namespaceId), UNMOUNT_FOLDERS)
    for (const entry of entries) if (entry.local === isLocal) await this.wipe(entry)
  }

  /** Removes the data of a mount that `remove` took out of service, page by page, and its last entry at the end. */
  async wipe(entry: MountEntry): Promise<void> {
    for (const work of this.#removals) await unlessShared(entry, work)
    const data = this.#storage.view(scopeOf(entry), dataFolder(entry))
    // One class after the other: no transaction mixes them.
    for (const part of [...OWN_PARTS, '']) await wipeFolder(data, part)
    await this.#coreOf(entry.namespace).transaction(async (tx) => tx.delete(unmountKey(entry)))
  }

  /**
   * Removes what this cluster keeps for itself of mounts that are gone. The primary of a set removes the data of a
   * mount that all share, but cannot reach this part of it. `namespaceIds` names all namespaces at the call; `gone`
   * names some that are gone, of which parts may be left here, too. Where anything else of a mount in another is still
   * here, which may be on its way here or away, its part stays, and the answer is false.
   */
  async wipeLeftovers(namespaceIds: () => Promise<readonly string[]>, gone: readonly string[] = []): Promise<boolean> {
    const found: { readonly namespace: string; readonly mount: string; readonly folder: string }[] = []
    for (const namespace of [...(await namespaceIds()), ...gone]) {
      const own = this.#storage.view(scopeOfNamespace(namespace), `${namespace}/`)
      for (const kind of ['logical/', 'auth/']) {
        for (const name of await own.list(kind))
          found.push({ namespace, mount: name.replace(/\/$/, ''), folder: `${namespace}/${kind}${name}` })
      }
    }
    // The entries come after the folders: a mount has its entry before it has data, so none made meanwhile is lost. It
    // may have moved to a namespace that was made meanwhile as well.
    const kept = new Set<string>()
    for (const id of await namespaceIds())
      for (const name of await namesIn(this.#coreOf(id), [...MOUNT_FOLDERS, ...UNMOUNT_FOLDERS])) kept.add(name)
    let isDone = true
    for (const { namespace, mount, folder } of found) {
      if (kept.has(mount)) continue
      const mayComeBack = !gone.includes(namespace)
      isDone = (await this.#wipeOwnParts({ namespace, mount, local: false }, folder, mayComeBack)) && isDone
    }
    return isDone
  }

  /**
   * False: nothing goes while there is anything else of a mount that may come back, since a filter that forbade it may
   * have allowed it again.
   */
  async #wipeOwnParts(scope: Scope, folder: string, mayComeBack: boolean): Promise<boolean> {
    const names = await this.#storage.view(scope, folder).list('')
    if (!names.some((name) => OWN_PARTS.includes(name))) return true
    const data = this.#storage.view(scope, folder, async (tx) => {
      if (mayComeBack && (await tx.list(folder)).some((name) => !OWN_PARTS.includes(name))) throw new MountIsHere()
    })
    try {
      for (const part of OWN_PARTS) await wipeFolder(data, part)
      return true
    } catch (cause) {
      if (cause instanceof MountIsHere) return false
      throw cause
    }
  }

  /** Stores mounts that every server has; the caller names those that are missing, all of one class. */
  async addMissing(missing: readonly AlwaysMounted[], world: World): Promise<void> {
    await this.#coreOf(ROOT_NAMESPACE).transaction(async (tx) => putNew(tx, world, missing))
  }
}

async function isStored(raw: Reader, { namespace, uuid }: MountInNamespace): Promise<boolean> {
  for (const folder of MOUNT_FOLDERS)
    if ((await raw.get(coreFolder(namespace) + folder + uuid)) !== undefined) return true
  return false
}

/** The whole key of a mount's entry. */
export const entryKey = (entry: MountEntry): string => coreFolder(entry.namespace) + mountKey(entry)

/** The entry at its new place. Data stay where they were made; former paths count in the namespace that they are of. */
function movedTo(entry: MountEntry, { namespace, path }: NamespacedPath): MountEntry {
  if (namespace.id === entry.namespace) return { ...entry, path, ...formerPathsOf(entry, path) }
  const { formerPaths: _ofOther, ...rest } = entry
  const formerNamespaces = formerNamespacesOf(entry, namespace.id)
  return { ...rest, home: entry.home ?? entry.namespace, formerNamespaces, namespace: namespace.id, path }
}

/** The path of a mount that lies where a namespace of this name would; undefined if none does. */
export async function mountInTheWay(folders: Folders, parent: Namespace, name: string): Promise<string | undefined> {
  const tx = folders.at(scopeOfNamespace(parent.id), coreFolder(parent.id))
  return (await readEntries(tx, MOUNT_FOLDERS)).find(({ path }) => path.startsWith(`${name}/`))?.path
}

async function namesIn(from: Pick<View, 'list'>, folders: readonly string[]): Promise<string[]> {
  const names: string[] = []
  for (const folder of folders) names.push(...(await from.list(folder)))
  return names
}

/**
 * Writes the mounts without which nothing works, in the transaction of the initialisation. `addMissing` adds the
 * others.
 */
export function initializeMounts(tx: ViewTransaction, world: World): void {
  putNew(tx, world, ALWAYS.slice(0, 2))
}

function putNew(tx: ViewTransaction, world: World, mounts: readonly AlwaysMounted[]): void {
  for (const one of mounts) {
    const entry = newMountEntry(world, { ...one, options: null })
    tx.put(mountKey(entry), encodeMountEntry(entry))
  }
}

/**
 * What the set shares may name a mount of this cluster, as a quota does that was made while it was the primary. On a
 * secondary that stays: for a mount that is gone it counts for nothing, and must not keep the mount or the server.
 */
async function unlessShared(entry: MountEntry, work: RemovalWork): Promise<void> {
  try {
    await work(entry)
  } catch (cause) {
    if (!(entry.local && cause instanceof WriteNotAllowed && cause.storageClass === 'replicated')) throw cause
  }
}
