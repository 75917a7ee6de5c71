// What a filter keeps from a secondary, by the mounts and namespaces of now (Interface 2.5). Pure: it is told of them.
import { ROOT_NAMESPACE } from '../../storage/contract.ts'
import { NO_ENTRY, type SetReach } from '../reach.ts'
import type { PathsFilter } from './paths-filter.ts'

/** Types of mounts that every namespace has, and that nothing works without: no filter keeps them from a secondary. */
export const SYSTEM_TYPES: ReadonlySet<string> = new Set(['system', 'identity', 'cubbyhole', 'token'])

/** A namespace. The root is none of them. */
export type PlacedNamespace = {
  readonly id: string
  /** The full path, which ends in '/'. */
  readonly path: string
  /** Its entry: `PARENT/NAME`. */
  readonly entry: string
}

/** A mount that the set shares. */
export type PlacedMount = {
  readonly uuid: string
  /** Id of the namespace that it is mounted in now. */
  readonly namespace: string
  /** The path in it, which ends in '/'; that of a login method begins with `auth/`. */
  readonly path: string
  readonly type: string
}

/** All that a filter can name. */
export type Placed = { readonly namespaces: readonly PlacedNamespace[]; readonly mounts: readonly PlacedMount[] }

/** What a filter comes to. */
export type Filtered = {
  /** What the secondary gets; undefined: everything. */
  readonly reach: SetReach | undefined
  /** Full paths of what it does not get, in order; mounts of the system are not named. */
  readonly filteredMounts: readonly string[]
  readonly filteredNamespaces: readonly string[]
}

const NOTHING_FILTERED: Filtered = { reach: undefined, filteredMounts: [], filteredNamespaces: [] }

/** A filter that can never keep anything is none. */
export const canKeep = ({ mode, paths }: Pick<PathsFilter, 'mode' | 'paths'>): boolean =>
  mode === 'allow' || paths.length > 0

/**
 * Evaluates a filter. A namespace is covered if the list names it, or one around it; a mount is listed if the list
 * names it, or its namespace is covered. `deny` keeps what is covered or listed from the secondary. `allow` lets it
 * have that and the namespaces around it, and nothing else. Undefined: there is no filter.
 */
export function filteredBy(filter: Pick<PathsFilter, 'mode' | 'paths'> | undefined, placed: Placed): Filtered {
  if (filter === undefined || !canKeep(filter)) return NOTHING_FILTERED
  const isAllow = filter.mode === 'allow'
  const named = new Set(filter.paths)
  const namespaces = placed.namespaces.map((one) => ({ ...one, isCovered: upTo(one.path).some((at) => named.has(at)) }))
  const mounts = listedMounts(placed.mounts, namespaces, named)
  const needed = isAllow ? neededPaths(namespaces, mounts) : undefined
  const there = new Map([[ROOT_NAMESPACE, NO_ENTRY]])
  for (const { id, entry, path, isCovered } of namespaces) if (needed?.has(path) ?? !isCovered) there.set(id, entry)
  const isReached = ({ namespace, isListed, isSystem }: Listed): boolean =>
    there.has(namespace) && (isSystem || isListed === isAllow)
  const filteredMounts = pathsOf(mounts.filter((one) => !one.isSystem && !isReached(one)))
  const filteredNamespaces = pathsOf(namespaces.filter(({ id }) => !there.has(id)))
  const lacksNothing = filteredMounts.length === 0 && filteredNamespaces.length === 0
  const reached = new Set(mounts.filter(isReached).map(({ uuid }) => uuid))
  return { reach: { mounts: reached, namespaces: there, lacksNothing }, filteredMounts, filteredNamespaces }
}

type Covered = PlacedNamespace & { readonly isCovered: boolean }
/** `path` is the full one, `within` that of the namespace. */
type Listed = PlacedMount & { readonly within: string; readonly isListed: boolean; readonly isSystem: boolean }

/** A mount whose namespace is not there is reached by nobody: it is left out. */
function listedMounts(
  mounts: readonly PlacedMount[],
  namespaces: readonly Covered[],
  named: ReadonlySet<string>,
): readonly Listed[] {
  const around = new Map(namespaces.map((one) => [one.id, one]))
  return mounts.flatMap((mount) => {
    const namespace = mount.namespace === ROOT_NAMESPACE ? { path: '', isCovered: false } : around.get(mount.namespace)
    if (namespace === undefined) return []
    const path = namespace.path + mount.path
    const isListed = namespace.isCovered || named.has(path)
    return [{ ...mount, path, within: namespace.path, isListed, isSystem: SYSTEM_TYPES.has(mount.type) }]
  })
}

/** The paths of the namespaces that a list of what is allowed makes necessary. */
function neededPaths(namespaces: readonly Covered[], mounts: readonly Listed[]): ReadonlySet<string> {
  const inner = new Set([
    ...namespaces.filter(({ isCovered }) => isCovered).map(({ path }) => path),
    ...mounts.filter(({ isListed, isSystem }) => isListed && !isSystem).map(({ within }) => within),
  ])
  return new Set([...inner].flatMap(upTo))
}

/** The path of a namespace, and those of all around it but the root. */
function upTo(path: string): string[] {
  const paths: string[] = []
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1))
    paths.push(path.slice(0, slash + 1))
  return paths
}

const pathsOf = (ones: readonly { readonly path: string }[]): string[] => ones.map(({ path }) => path).sort()
