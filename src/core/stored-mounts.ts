// The mounts as they are stored, one entry for each, and their data:
//
//   root/core/mounts/UUID              the mount
//   root/core/unmounting/UUID          a mount whose data are being removed; finished at the next start if interrupted
//   root/core/local-mounts/UUID        the same two for a mount that stays out of replication: what is local about it
//   root/core/local-unmounting/UUID    is stored in a class of its own
//   root/logical/UUID/…                its data (root/auth/UUID/… for a login mount)
import { fail } from '../api/errors.ts'
import type { MountEntry } from '../api/mount.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import { WriteNotAllowed } from '../storage/errors.ts'
import type { SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'
import {
  ALWAYS,
  type AlwaysMounted,
  CORE_FOLDER,
  dataFolder,
  encodeMountEntry,
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

/** Keys removed in one transaction. Bounds its memory, and how long the commits of others wait. */
const WIPE_PAGE = 500

/** The folders of a mount's data that have a class of their own (storage/classes.ts). */
const OWN_PARTS = ['cluster/', 'node/']

/** Removes what belongs to a mount besides its data. Must bear to be called again, after an interruption. */
export type RemovalWork = (entry: MountEntry) => Promise<void>

/** Reads and changes the stored mounts. Changes are made on the writing thread alone; each is one transaction. */
export class StoredMounts {
  readonly #storage: Pick<SealedStorage, 'view'>
  readonly #core: View
  readonly #removals: readonly RemovalWork[]

  constructor(storage: Pick<SealedStorage, 'view'>, removals: readonly RemovalWork[]) {
    this.#storage = storage
    this.#removals = removals
    this.#core = storage.view(systemScope, CORE_FOLDER)
  }

  /** Returns the entries of all mounts; not of those being removed. */
  all(): Promise<MountEntry[]> {
    return readEntries(this.#core, MOUNT_FOLDERS)
  }

  /**
   * Returns the view for the engine of the mount. Its commits are refused as soon as the mount is being removed: one
   * that came later would leave data that no mount owns.
   */
  dataOf(entry: MountEntry): View {
    const key = CORE_FOLDER + mountKey(entry)
    return this.#storage.view(scopeOf(entry), dataFolder(entry), async (tx) => {
      if ((await tx.get(key)) === undefined) throw fail('no_route', [entry.path])
    })
  }

  /** @throws Refusal for a path that is reserved or in use */
  async add(entry: MountEntry): Promise<void> {
    requireAllowedPath(entry)
    await this.#core.transaction(async (tx) => {
      const taken = await overlapping(tx, entry)
      // Wire text.
      if (taken !== undefined) throw fail('already_exists', [`path is already in use at ${shownPath(taken)}`])
      tx.put(mountKey(entry), encodeMountEntry(entry))
    })
  }

  /** @throws Refusal where no mount is at the path, and what `change` throws */
  async tune(path: string, change: (entry: MountEntry) => MountEntry): Promise<void> {
    await this.#core.transaction(async (tx) => {
      const entry = await storedAt(tx, path)
      if (entry === undefined) throw fail('no_such_entry', [`no mount at "${path}"`])
      tx.put(mountKey(entry), encodeMountEntry(change(entry)))
    })
  }

  /** @throws Refusal where no mount is at `from` or it cannot be moved, and for a `to` that is reserved or in use */
  async move(from: string, to: string): Promise<void> {
    await this.#core.transaction(async (tx) => {
      const entry = await storedAt(tx, from)
      if (entry === undefined) throw fail('no_such_entry', [`no matching mount at "${from}"`]) // Wire text.
      if (SINGLETONS.has(entry.type)) throw fail('part_of_server', [`cannot remount "${from}"`])
      const moved = { ...entry, path: to, ...formerPathsOf(entry, to) }
      requireAllowedPath(moved)
      const taken = await overlapping(tx, moved)
      // Wire text.
      if (taken !== undefined) throw fail('already_exists', [`path already in use at "${shownPath(taken)}"`])
      tx.put(mountKey(entry), encodeMountEntry(moved))
    })
  }

  /** Ends the service of the mount. Its data stay until `wipe`, or until `finishRemovals` after an interruption. */
  async remove(entry: MountEntry): Promise<void> {
    await this.#core.transaction(async (tx) => {
      tx.delete(mountKey(entry))
      tx.put(unmountKey(entry), encodeMountEntry(entry))
    })
  }

  /** Wipes the data of every local mount, or of every other one, whose removal was interrupted. */
  async finishRemovals(isLocal: boolean): Promise<void> {
    const entries = await readEntries(this.#core, UNMOUNT_FOLDERS)
    for (const entry of entries) if (entry.local === isLocal) await this.wipe(entry)
  }

  /** Removes the data of a mount that `remove` took out of service, page by page, and its last entry at the end. */
  async wipe(entry: MountEntry): Promise<void> {
    for (const work of this.#removals) await unlessShared(entry, work)
    const data = this.#storage.view(scopeOf(entry), dataFolder(entry))
    // One class after the other: no transaction mixes them.
    for (const part of [...OWN_PARTS, '']) await wipePart(data, part)
    await this.#core.transaction(async (tx) => tx.delete(unmountKey(entry)))
  }

  /**
   * Removes what this cluster keeps for itself of mounts that are gone. The primary of a set removes the data of a
   * mount that all share, but cannot reach this part of it.
   */
  async wipeLeftovers(): Promise<void> {
    const root = this.#storage.view(systemScope, `${ROOT_NAMESPACE}/`)
    const folders: { readonly mount: string; readonly folder: string }[] = []
    for (const kind of ['logical/', 'auth/']) {
      for (const name of await root.list(kind)) folders.push({ mount: name.replace(/\/$/, ''), folder: kind + name })
    }
    // The entries come after the folders: a mount has its entry before it has data, so none made meanwhile is lost.
    const kept = new Set(await namesIn(this.#core, [...MOUNT_FOLDERS, ...UNMOUNT_FOLDERS]))
    for (const { mount, folder } of folders) {
      if (kept.has(mount)) continue
      const scope = { namespace: ROOT_NAMESPACE, mount, local: false }
      const data = this.#storage.view(scope, `${ROOT_NAMESPACE}/${folder}`)
      for (const part of OWN_PARTS) await wipePart(data, part)
    }
  }

  /** Stores mounts that every server has; the caller names those that are missing, all of one class. */
  async addMissing(missing: readonly AlwaysMounted[], world: World): Promise<void> {
    await this.#core.transaction(async (tx) => putNew(tx, world, missing))
  }
}

async function namesIn(from: Pick<View, 'list'>, folders: readonly string[]): Promise<string[]> {
  const names: string[] = []
  for (const folder of folders) names.push(...(await from.list(folder)))
  return names
}

async function wipePart(data: View, part: string): Promise<void> {
  for (let more = true; more; ) {
    more = await data.transaction(async (tx) => {
      const keys = await tx.keys(part, '', WIPE_PAGE)
      for (const key of keys) tx.delete(key)
      return keys.length === WIPE_PAGE
    })
  }
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
