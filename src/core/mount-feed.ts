// Follows the stored mounts and the namespaces, and tells the table of one thread which mounts are where. After the
// first reading it reads what changed, and no more: there may be many thousands.
import type { MountEntry } from '../api/mount.ts'
import { type Namespace, type Namespaces, ROOT } from '../api/namespace.ts'
import { builtInMounts } from '../namespaces/built-in-mounts.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import { ALWAYS, MOUNT_FOLDERS } from './mount-entries.ts'
import type { PlacedMounts } from './placed-mounts.ts'
import { entryKey, type StoredMounts } from './stored-mounts.ts'

type Parts = {
  readonly namespaces: Namespaces
  readonly stored: Pick<StoredMounts, 'all' | 'at'>
  /** Where the mounts are, as the last calls of `place` and `forget` left them. */
  readonly placed: PlacedMounts
  /** Serves a mount, where its entry says; it may have been elsewhere, or have had other settings. */
  readonly place: (entry: MountEntry) => void
  readonly forget: (uuid: string) => void
}

/** The changes of mounts, for the table of one thread. */
export class MountFeed {
  readonly #parts: Parts
  /** The stored mounts by the keys of their entries, those that this version cannot serve included. */
  readonly #entries = new Map<string, MountEntry>()
  /** Keys of entries that changed since the last load; undefined: all must be read. */
  #changed: Set<string> | undefined
  #areNamespacesChanged = false
  /** The namespaces whose mounts are placed, by their ids. */
  readonly #known = new Map<string, Namespace>()

  constructor(parts: Parts, invalidation: Invalidation) {
    this.#parts = parts
    const reset = () => {
      this.#changed = undefined
    }
    for (const folder of MOUNT_FOLDERS)
      invalidation.register({ prefix: `core/${folder}`, changed: (_, key) => this.#changed?.add(key), reset })
    const changed = () => {
      this.#areNamespacesChanged = true
    }
    for (const prefix of ['core/namespace/', 'core/leaving-namespace/'])
      invalidation.register({ prefix, changed, reset: changed })
  }

  /** True while the store may have changes that were not taken over. */
  get isBehind(): boolean {
    return this.#changed === undefined || this.#changed.size > 0 || this.#areNamespacesChanged
  }

  /** Forgets everything at seal. The next load reads all. */
  clear(): void {
    this.#entries.clear()
    this.#known.clear()
    this.#changed = undefined
  }

  /** Takes over what changed until now. What changes meanwhile leaves it behind again. */
  async load(): Promise<void> {
    const changed = this.#changed
    const areNamespacesChanged = this.#areNamespacesChanged
    this.#changed = new Set()
    this.#areNamespacesChanged = false
    try {
      if (this.#parts.namespaces.stale) await this.#parts.namespaces.refresh()
      await this.#read(changed)
      // Of a few changes only the mounts that they name are placed anew: there may be many thousands.
      if (changed === undefined) this.#placeAll()
      else {
        if (areNamespacesChanged) await this.#followNamespaces()
        for (const key of changed) this.#placeOne(key)
      }
    } catch (cause) {
      this.#changed = undefined
      throw cause
    }
  }

  async #read(changed: ReadonlySet<string> | undefined): Promise<void> {
    if (changed === undefined) {
      const found = new Map<string, MountEntry>()
      for (const { id } of [ROOT, ...this.#parts.namespaces.below(ROOT)])
        for (const { key, entry } of await this.#parts.stored.all(id)) found.set(key, entry)
      this.#entries.clear()
      for (const [key, entry] of found) this.#entries.set(key, entry)
      return
    }
    for (const key of changed) {
      const entry = await this.#parts.stored.at(key)
      if (entry === undefined) this.#entries.delete(key)
      else this.#entries.set(key, entry)
    }
  }

  /** Takes over which namespaces there are, and what they are now. Those that stayed as they were cost a look each. */
  async #followNamespaces(): Promise<void> {
    const present = new Set<string>([ROOT.id])
    for (const namespace of this.#parts.namespaces.below(ROOT)) {
      present.add(namespace.id)
      const known = this.#known.get(namespace.id)
      if (known === namespace) continue
      if (known === undefined) {
        for (const { key, entry } of await this.#parts.stored.all(namespace.id)) this.#entries.set(key, entry)
        for (const entry of builtInMounts(namespace, ALWAYS)) this.#parts.place(entry)
        for (const entry of this.#entries.values()) if (entry.namespace === namespace.id) this.#parts.place(entry)
        this.#placeLocalsAround(namespace)
      } else for (const { entry } of [...this.#parts.placed.of(namespace.id)]) this.#parts.place(entry)
      this.#known.set(namespace.id, namespace)
    }
    for (const [id, gone] of this.#known) {
      if (present.has(id)) continue
      for (const { entry } of [...this.#parts.placed.of(id)]) this.#parts.forget(entry.uuid)
      this.#known.delete(id)
      this.#placeLocalsAround(gone)
    }
  }

  /** The primary of a set makes and deletes namespaces where other clusters may have mounts of their own. */
  #placeLocalsAround({ path, parent }: Namespace): void {
    for (let outer = parent; outer !== undefined; outer = outer.parent)
      for (const { entry, path: at } of [...this.#parts.placed.of(outer.id)])
        if (entry.local && at.startsWith(path)) this.#parts.place(entry)
  }

  #placeAll(): void {
    this.#known.clear()
    for (const namespace of this.#parts.namespaces.below(ROOT)) this.#known.set(namespace.id, namespace)
    const wanted = new Map<string, MountEntry>()
    for (const namespace of this.#parts.namespaces.below(ROOT))
      for (const entry of builtInMounts(namespace, ALWAYS)) wanted.set(entry.uuid, entry)
    for (const entry of this.#entries.values()) wanted.set(entry.uuid, entry)
    for (const { entry } of [...this.#parts.placed.all()]) if (!wanted.has(entry.uuid)) this.#parts.forget(entry.uuid)
    for (const entry of wanted.values()) this.#parts.place(entry)
  }

  /** A mount whose entry went may have moved to another namespace, and then has another entry. */
  #placeOne(key: string): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) {
      this.#parts.place(entry)
      return
    }
    const uuid = key.slice(key.lastIndexOf('/') + 1)
    const placed = this.#parts.placed.withUuid(uuid)
    if (placed !== undefined && entryKey(placed.entry) === key) this.#parts.forget(uuid)
  }
}
