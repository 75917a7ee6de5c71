// Filters of secondaries, as operators see them: an id is that of the token, or of the cluster that came with it.

import type { LinkControl } from '../../replication/link/link-sides.ts'
import { putFilter, readFilter, removeFilter } from '../../replication/set/paths-filter.ts'
import { requireOperation } from '../../replication/set/primary-operations.ts'
import { SECONDARY_IDENTITY, SetRefused, setPath } from '../../replication/set/records.ts'
import type { View } from '../../storage/sealed-storage.ts'
import type { PathsFilters } from '../../system/replication-operations.ts'
import { orRefused } from './set-refusals.ts'

/** The parts that it works with. */
export type PathsFiltersParts = {
  readonly view: View
  readonly links: Pick<LinkControl, 'status'>
  readonly clusterId: () => string
}

/** The filters of one server. */
export function pathsFilters({ view, links, clusterId }: PathsFiltersParts): PathsFilters {
  /** Another cluster may have the id of this one's token as its own: the name of the token comes first. */
  const idOf = async (given: string): Promise<string> => {
    const { secondaries } = await links.status()
    const ofFamily = secondaries.filter(({ family }) => family === 'performance')
    if (given === '' || ofFamily.some(({ id }) => id === given)) return given
    return ofFamily.find((one) => one.clusterId === given)?.id ?? given
  }
  return {
    read: (given) =>
      orRefused(async () => {
        const id = await idOf(given)
        const found = await view.transaction((tx) => readFilter(tx, id))
        return found && { mode: found.mode, paths: found.paths }
      }),
    write: (given, { mode, paths }) =>
      orRefused(async () => {
        const id = await idOf(given)
        await view.transaction((tx) => putFilter(tx, { id, mode, paths: [...paths] }))
      }),
    remove: (given) =>
      orRefused(async () => {
        const id = await idOf(given)
        await view.transaction((tx) => removeFilter(tx, id))
      }),
    requireOwn: (given) =>
      orRefused(() =>
        view.transaction(async (tx) => {
          await requireOperation(tx, 'performance', 'secondary/dynamic-filter')
          const stored = await tx.get(setPath('performance', 'identity'))
          const own = stored === undefined ? undefined : SECONDARY_IDENTITY.decode(stored).id
          if (given !== own && given !== clusterId())
            throw new SetRefused(
              404,
              'This cluster has another id: "secondary_id" of the status, or that of sys/health',
            )
        }),
      ),
  }
}
