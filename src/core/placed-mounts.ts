// The mounts of all namespaces, indexed by where they are. In memory, of one thread.
import type { Engine, MountEntry } from '../api/mount.ts'
import type { Namespace } from '../api/namespace.ts'
import type { Router } from '../api/router.ts'

/** A mount that is being served: its entry and namespace, the routes of its type, and its engine in this thread. */
export type Mounted = {
  readonly entry: MountEntry
  readonly namespace: Namespace
  /** The full path: that of the namespace, and that of the mount within it. */
  readonly path: string
  readonly router: Router
  readonly engine: Engine
}

/** All mounts. Where two have one path, the local one is found and shown, until it goes. */
export class PlacedMounts {
  /** Serves its path while no other mount does. */
  readonly #always: Mounted
  readonly #byPath = new Map<string, Mounted>()
  readonly #byUuid = new Map<string, Mounted>()
  readonly #byNamespace = new Map<string, Map<string, Mounted>>()
  /** The longest path of any mount since the start: a longer prefix cannot be a mount. */
  #longestPath: number

  constructor(always: Mounted) {
    this.#always = always
    this.#longestPath = always.path.length
    this.#byPath.set(always.path, always)
  }

  /** Puts a mount in its place; the same mount at another place leaves that. */
  put(mounted: Mounted): void {
    const { entry, path } = mounted
    const before = this.#byUuid.get(entry.uuid)
    // One that stays where it is hides what it hid before, and is hidden as before.
    const stays = before?.path === path && before.entry.namespace === entry.namespace
    const isShown = stays && this.#byPath.get(path) === before
    if (!stays) this.remove(entry.uuid)
    this.#byUuid.set(entry.uuid, mounted)
    const others = this.#byNamespace.get(entry.namespace) ?? new Map<string, Mounted>()
    this.#byNamespace.set(entry.namespace, others.set(entry.uuid, mounted))
    this.#longestPath = Math.max(this.#longestPath, path.length)
    if (stays ? isShown : this.#isShownAt(mounted)) this.#byPath.set(path, mounted)
  }

  #isShownAt({ entry, path }: Mounted): boolean {
    const there = this.#byPath.get(path)
    return there === undefined || entry.local || !there.entry.local
  }

  /** Takes a mount out, and returns it. Another one that was hidden by it is found from now on. */
  remove(uuid: string): Mounted | undefined {
    const mounted = this.#byUuid.get(uuid)
    if (mounted === undefined) return undefined
    const { entry, path } = mounted
    this.#byUuid.delete(uuid)
    const others = this.#byNamespace.get(entry.namespace)
    others?.delete(uuid)
    if (others?.size === 0) this.#byNamespace.delete(entry.namespace)
    if (this.#byPath.get(path) !== mounted) return mounted
    this.#byPath.delete(path)
    const always = path === this.#always.path ? this.#always : undefined
    const hidden = [...(others?.values() ?? [])].find((one) => one.path === path) ?? always
    if (hidden !== undefined) this.#byPath.set(path, hidden)
    return mounted
  }

  clear(): void {
    this.#byPath.clear()
    this.#byUuid.clear()
    this.#byNamespace.clear()
    this.#byPath.set(this.#always.path, this.#always)
  }

  /** All, also those that others hide; without the one that is always there. */
  all(): Iterable<Mounted> {
    return this.#byUuid.values()
  }

  /** All that can be found by a path. */
  shown(): Iterable<Mounted> {
    return this.#byPath.values()
  }

  /** Those of a namespace, also those that others hide. */
  of(namespaceId: string): Iterable<Mounted> {
    return this.#byNamespace.get(namespaceId)?.values() ?? []
  }

  /** Those of a namespace that can be found by a path. */
  shownIn(namespaceId: string): readonly Mounted[] {
    const own = [...(this.#byNamespace.get(namespaceId)?.values() ?? [])]
    if (namespaceId === this.#always.namespace.id) own.push(this.#always)
    return own.filter((one) => this.#byPath.get(one.path) === one)
  }

  withUuid(uuid: string): Mounted | undefined {
    return this.#byUuid.get(uuid)
  }

  /** The mount at exactly this full path. */
  at(path: string): Mounted | undefined {
    return this.#byPath.get(path)
  }

  /** Returns the mount with the longest path that `path` begins with; "transit" finds "transit/". */
  route(path: string): Mounted | undefined {
    // Starts at the longest mount path: a path of a thousand slashes would otherwise cost a thousand look-ups.
    const most = this.#longestPath
    const last = path.length < most ? path.length : path.lastIndexOf('/', most - 1) + 1
    for (let end = last; end > 0; end = end > 1 ? path.lastIndexOf('/', end - 2) + 1 : 0) {
      const found = this.#byPath.get(path[end - 1] === '/' ? path.slice(0, end) : `${path}/`)
      if (found !== undefined) return found
    }
    return undefined
  }
}
