// Filters of secondaries, as operators see them: they name one by the id of its token, or by that of the cluster that
// came with it.

import type { LinkControl } from '../../replication/link/link-sides.ts'
import type { Filtered } from '../../replication/set/filtered.ts'
import { namedSecondary, putFilter, readFilter, removeFilter } from '../../replication/set/paths-filter.ts'
import { requireOperation } from '../../replication/set/primary-operations.ts'
import { SECONDARY_IDENTITY, SetRefused, setPath } from '../../replication/set/records.ts'
import type { View } from '../../storage/sealed-storage.ts'
import type { FilteredPaths, PathsFilters } from '../../system/replication-operations.ts'
import type { PrimaryLink } from './primary-link.ts'
import type { ReadingReach } from './reading-reach.ts'
import { orRefused } from './set-refusals.ts'

/** The parts that it works with. */
export type PathsFiltersParts = {
  readonly view: View
  readonly links: Pick<LinkControl, 'status'>
  readonly clusterId: () => string
  readonly reading: Pick<ReadingReach, 'filteredNow'>
  readonly toPrimary: Pick<PrimaryLink, 'filteredHere'>
}

/** The filters of one server. */
export function pathsFilters(parts: PathsFiltersParts): PathsFilters {
  const { view, links, clusterId, reading, toPrimary } = parts
  /** Where no link can be asked, the registry says which secondary it is. */
  const connected = async (): Promise<ReadonlyMap<string, string>> => {
    const { secondaries } = await links.status()
    const present = secondaries.filter((one) => one.family === 'performance' && one.isConnected)
    return new Map(present.map((one) => [one.id, one.clusterId]))
  }
  const found = async (id: string) => view.transaction((tx) => readFilter(tx, id))
  return {
    named: (given, operation) =>
      orRefused(async () => {
        const ids = await connected()
        return view.transaction((tx) => namedSecondary(tx, given, operation, ids))
      }),
    read: (id) =>
      orRefused(async () => {
        const filter = await found(id)
        return filter && { mode: filter.mode, paths: filter.paths }
      }),
    write: (id, { mode, paths }) =>
      orRefused(() => view.transaction((tx) => putFilter(tx, { id, mode, paths: [...paths] }))),
    preview: (id, { mode, paths }) =>
      orRefused(async () => {
        await found(id)
        const { now, instead } = await reading.filteredNow(id, { mode, paths: [...paths] })
        return {
          appearing: missing(pathsIn(now), pathsIn(instead)),
          vanishing: missing(pathsIn(instead), pathsIn(now)),
        }
      }),
    remove: (id) => orRefused(() => view.transaction((tx) => removeFilter(tx, id))),
    filtered: (id) =>
      orRefused(async () => {
        await found(id)
        return namesOf((await reading.filteredNow(id)).now)
      }),
    filteredHere: (given) =>
      orRefused(async () => {
        await view.transaction(async (tx) => {
          await requireOperation(tx, 'performance', 'secondary/dynamic-filter')
          const stored = await tx.get(setPath('performance', 'identity'))
          if (stored === undefined) throw new SetRefused(400, FOLLOWS_NOBODY)
          if (given !== SECONDARY_IDENTITY.decode(stored).id && given !== clusterId())
            throw new SetRefused(
              404,
              'This cluster has another id: "secondary_id" of the status, or that of sys/health',
            )
        })
        return toPrimary.filteredHere()
      }),
  }
}

const FOLLOWS_NOBODY =
  'This cluster follows no primary, which alone knows what it filters: "secondary/update-primary" gives it one'

/** The names of what is filtered. */
export const namesOf = ({ filteredMounts, filteredNamespaces }: Filtered): FilteredPaths => ({
  mounts: filteredMounts,
  namespaces: filteredNamespaces,
})

const pathsIn = ({ filteredMounts, filteredNamespaces }: Filtered): string[] =>
  [...filteredNamespaces, ...filteredMounts].sort()

/** What is in the first list and not in the second. */
function missing(from: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others)
  return from.filter((path) => !known.has(path))
}
