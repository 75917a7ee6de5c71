// Mounts, namespaces and filters as the entries of one simulated cluster have them, and by rules of its own what a
// filter lets a secondary have: it shares no code with what the program judges by.
import { decodeMountEntry } from '../../../src/core/mount-entries.ts'
import { LEAVING_FOLDER, NAMESPACE, NAMESPACE_FOLDER } from '../../../src/namespaces/records.ts'
import { PATHS_FILTER, type PathsFilter } from '../../../src/replication/set/paths-filter.ts'
import { FILTERS_FOLDER, SETS_FOLDER } from '../../../src/replication/set/records.ts'
import { type ChangeOperation, ROOT_NAMESPACE, type StoredEntry } from '../../../src/storage/contract.ts'

const FILTERS = SETS_FOLDER + FILTERS_FOLDER
const FOLDERS = [FILTERS, NAMESPACE_FOLDER, LEAVING_FOLDER]
const isMountEntry = (key: string): boolean => key.split('/', 3).slice(1).join('/') === 'core/mounts'
/** True for the entries that decide what a filter keeps from a secondary. */
export const isDeciding = (key: string): boolean => isMountEntry(key) || FOLDERS.some((each) => key.startsWith(each))

/** `home`: the namespace that its data are stored below. */
export type PlacedMount = {
  readonly uuid: string
  readonly namespace: string
  readonly home: string
  readonly path: string
}
/** `entry`: `PARENT/NAME`. */
export type PlacedNamespace = {
  readonly id: string
  readonly path: string
  readonly entry: string
  readonly isLeaving: boolean
}
/** All of a cluster. */
export type Placed = {
  readonly namespaces: readonly PlacedNamespace[]
  readonly mounts: readonly PlacedMount[]
  readonly filters: ReadonlyMap<string, PathsFilter>
}

/** What a secondary is to have of these. */
export type Visible = {
  readonly mounts: ReadonlySet<string>
  /** Ids, with the names of their entries. */
  readonly namespaces: ReadonlyMap<string, string>
  readonly lacksNothing: boolean
}

/** The entries of one cluster, brought up to date change by change. */
export class PlacedEntries {
  readonly #sealed = new Map<string, Buffer>()
  #placed: Placed | undefined

  static of(entries: readonly StoredEntry[]): PlacedEntries {
    const placed = new PlacedEntries()
    for (const { key, value } of entries) if (isDeciding(key)) placed.#sealed.set(key, value)
    return placed
  }

  /** True if any of them decides something. */
  apply(operations: readonly ChangeOperation[]): boolean {
    const deciding = operations.filter(({ key }) => isDeciding(key))
    for (const { kind, key, value } of deciding) {
      if (kind === 'put') this.#sealed.set(key, value)
      else this.#sealed.delete(key)
    }
    if (deciding.length > 0) this.#placed = undefined
    return deciding.length > 0
  }

  /** `open` opens a value by the keys of the cluster. */
  placed(open: (key: string, value: Buffer) => Buffer): Placed {
    this.#placed ??= this.#read(open)
    return this.#placed
  }

  #read(open: (key: string, value: Buffer) => Buffer): Placed {
    const mounts: PlacedMount[] = []
    const filters = new Map<string, PathsFilter>()
    const stored: { id: string; parent: string; name: string; entry: string; isLeaving: boolean }[] = []
    for (const [key, value] of this.#sealed) {
      const clear = open(key, value)
      const folder = [NAMESPACE_FOLDER, LEAVING_FOLDER].find((each) => key.startsWith(each))
      if (folder !== undefined) {
        const { id, parent, name } = NAMESPACE.decode(clear)
        stored.push({ id, parent, name, entry: key.slice(folder.length), isLeaving: folder === LEAVING_FOLDER })
      } else if (key.startsWith(FILTERS)) {
        const filter = PATHS_FILTER.decode(clear)
        filters.set(filter.id, filter)
      } else {
        const { uuid, namespace, home = namespace, path } = decodeMountEntry(clear)
        mounts.push({ uuid, namespace, home, path })
      }
    }
    const pathOf = (id: string): string | undefined => {
      if (id === ROOT_NAMESPACE) return ''
      const found = stored.find((one) => one.id === id)
      const parent = found && pathOf(found.parent)
      return parent === undefined ? undefined : `${parent}${found?.name}/`
    }
    const namespaces = stored.flatMap(({ id, entry, isLeaving }) => {
      const path = pathOf(id)
      return path === undefined ? [] : [{ id, path, entry, isLeaving }]
    })
    return { namespaces, mounts, filters }
  }
}

/** What the filter of this id lets its secondary have; undefined: everything. */
export function visibleTo(id: string, { namespaces, mounts, filters }: Placed): Visible | undefined {
  const filter = filters.get(id)
  if (filter === undefined || (filter.mode === 'deny' && filter.paths.length === 0)) return undefined
  const isNamed = (path: string): boolean => filter.paths.some((named) => named === path)
  const isWithinNamed = (path: string): boolean =>
    filter.paths.some((named) => path.startsWith(named) && namespaces.some((one) => one.path === named))
  const placedIn = (mount: PlacedMount): string | undefined =>
    mount.namespace === ROOT_NAMESPACE ? '' : namespaces.find((one) => one.id === mount.namespace)?.path
  const isMeant = (mount: PlacedMount): boolean => {
    const within = placedIn(mount)
    return within !== undefined && (isNamed(within + mount.path) || (within !== '' && isWithinNamed(within)))
  }
  const meant = mounts.filter(isMeant)
  const covered = namespaces.filter(({ path }) => isWithinNamed(path))
  const inner = [...covered.map(({ path }) => path), ...meant.map((mount) => placedIn(mount) ?? '')]
  const isThere = ({ path }: PlacedNamespace): boolean =>
    filter.mode === 'deny' ? !isWithinNamed(path) : inner.some((each) => each.startsWith(path))
  const there = namespaces.filter(isThere)
  const isReached = (mount: PlacedMount): boolean => {
    const isIn = mount.namespace === ROOT_NAMESPACE || there.some(({ id: of }) => of === mount.namespace)
    return isIn && meant.includes(mount) === (filter.mode === 'allow')
  }
  return {
    mounts: new Set(mounts.filter(isReached).map(({ uuid }) => uuid)),
    namespaces: new Map(there.map(({ id: of, entry }) => [of, entry])),
    lacksNothing:
      there.length === namespaces.length &&
      mounts.filter((mount) => placedIn(mount) !== undefined).every((mount) => isReached(mount)),
  }
}
