// The mounts of all namespaces, indexed by where they are. In memory, of one thread.
import type { Engine, MountEntry } from '../api/mount.ts'
import type { Namespace } from '../api/namespace.ts'
import type { Sight } from '../api/node-role.ts'
import type { Router } from '../api/router.ts'

/** A mount that is being served: its entry and namespace, the routes of its type, and its engine in this thread. */
export type Mounted = {
  readonly entry: MountEntry
  readonly namespace: Namespace
  /** The full path: that of the namespace, and that of the mount within it. */
  readonly path: string
  readonly router: Router
  readonly engine: Engine
  /** True if its path lies in a namespace below its own: the primary of a set made one around a local mount. */
  readonly isAstray?: boolean
}

/**
 * All mounts. Where two have one path, the local one is found and shown, until it goes. One whose path lies in a
 * namespace below is not found either: what is asked there is judged by the policies of that namespace.
 */
export class PlacedMounts {
  /** Serves its path while no other mount does. */
  readonly #always: Mounted
  readonly #byPath = new Map<string, Mounted>()
  readonly #byUuid = new Map<string, Mounted>()
  readonly #byNamespace = new Map<string, Map<string, Mounted>>()
  /** The longest path of any mount since the start: a longer prefix cannot be a mount. */
  #longestPath: number
  /** What `conflicting` returned; undefined: it must be looked for. */
  #conflicting: readonly string[] | undefined

  constructor(always: Mounted) {
    this.#always = always
    this.#longestPath = always.path.length
    this.#byPath.set(always.path, always)
  }

  /** Puts a mount in its place; the same mount at another place leaves that. */
  put(mounted: Mounted): void {
    const { entry, path } = mounted
    const before = this.#byUuid.get(entry.uuid)
    this.#conflicting = undefined
    // One that stays where it is hides what it hid before, and is hidden as before.
    const stays =
      before?.path === path && before.entry.namespace === entry.namespace && isAstray(before) === isAstray(mounted)
    const isShown = stays && this.#byPath.get(path) === before
    if (!stays) this.remove(entry.uuid)
    this.#byUuid.set(entry.uuid, mounted)
    const others = this.#byNamespace.get(entry.namespace) ?? new Map<string, Mounted>()
    this.#byNamespace.set(entry.namespace, others.set(entry.uuid, mounted))
    this.#longestPath = Math.max(this.#longestPath, path.length)
    if (stays ? isShown : this.#isShownAt(mounted)) this.#byPath.set(path, mounted)
  }

  #isShownAt(mounted: Mounted): boolean {
    const { entry, path } = mounted
    if (isAstray(mounted)) return false
    const there = this.#byPath.get(path)
    // Of another namespace: it is astray by now, and this is told before that one.
    if (there !== undefined && there.entry.namespace !== entry.namespace) return true
    return there === undefined || entry.local || !there.entry.local
  }

  /** Takes a mount out, and returns it. Another one that was hidden by it is found from now on. */
  remove(uuid: string): Mounted | undefined {
    const mounted = this.#byUuid.get(uuid)
    if (mounted === undefined) return undefined
    const { entry, path } = mounted
    this.#conflicting = undefined
    this.#byUuid.delete(uuid)
    const others = this.#byNamespace.get(entry.namespace)
    others?.delete(uuid)
    if (others?.size === 0) this.#byNamespace.delete(entry.namespace)
    if (this.#byPath.get(path) !== mounted) return mounted
    this.#byPath.delete(path)
    const always = path === this.#always.path ? this.#always : undefined
    const hidden = [...(others?.values() ?? [])].find((one) => one.path === path && !isAstray(one)) ?? always
    if (hidden !== undefined) this.#byPath.set(path, hidden)
    return mounted
  }

  clear(): void {
    this.#conflicting = undefined
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
  shownIn(namespaceId: string, sight: Sight): readonly Mounted[] {
    const own = [...(this.#byNamespace.get(namespaceId)?.values() ?? [])]
    if (namespaceId === this.#always.namespace.id) own.push(this.#always)
    return own.filter((one) => this.at(one.path, sight) === one)
  }

  /** One of the namespace that is at this full path and is not found by it. */
  astrayAt(namespaceId: string, path: string): Mounted | undefined {
    for (const one of this.of(namespaceId)) if (one.path === path && isAstray(one)) return one
    return undefined
  }

  /**
   * Full paths of local mounts which lie in a namespace below their own, or which have, contain or lie within the path
   * of a mount that the set shares, in order. Only replication brings such. They are looked for once after a change.
   */
  conflicting(): readonly string[] {
    this.#conflicting ??= conflictsOf([...this.#byUuid.values()])
    return this.#conflicting
  }

  withUuid(uuid: string): Mounted | undefined {
    return this.#byUuid.get(uuid)
  }

  /** The mount at exactly this full path. */
  at(path: string, sight: Sight = 'all'): Mounted | undefined {
    const found = this.#byPath.get(path)
    if (sight === 'all' || found?.entry.local !== true) return found
    const hidden = (one: Mounted) => one.path === path && !one.entry.local && !isAstray(one)
    return [...this.of(found.entry.namespace)].find(hidden)
  }

  /** Returns the mount with the longest path that `path` begins with; "transit" finds "transit/". */
  route(path: string, sight: Sight = 'all'): Mounted | undefined {
    // Starts at the longest mount path: a path of a thousand slashes would otherwise cost a thousand look-ups.
    const most = this.#longestPath
    const last = path.length < most ? path.length : path.lastIndexOf('/', most - 1) + 1
    for (let end = last; end > 0; end = end > 1 ? path.lastIndexOf('/', end - 2) + 1 : 0) {
      const found = this.at(path[end - 1] === '/' ? path.slice(0, end) : `${path}/`, sight)
      if (found !== undefined) return found
    }
    return undefined
  }
}

const isAstray = (mounted: Mounted): boolean => mounted.isAstray === true

/** In the order of paths a path stands before all that lie within it, and with them. */
function conflictsOf(mounts: readonly Mounted[]): readonly string[] {
  const found = new Set<string>()
  /** The mounts that contain the one that is looked at, outermost first. */
  const around: Mounted[] = []
  for (const one of mounts.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    if (one.entry.local && isAstray(one)) found.add(one.path)
    for (let last = around.at(-1); last !== undefined && !one.path.startsWith(last.path); last = around.at(-1))
      around.pop()
    for (const outer of around) {
      if (outer.entry.local === one.entry.local) continue
      found.add(outer.entry.local ? outer.path : one.path)
    }
    around.push(one)
  }
  return [...found].sort()
}
