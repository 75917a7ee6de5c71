// What each secondary has of what it names in requests: by its filter, and by namespaces and mounts as this thread
// knows them. It is asked in the middle of a request, and so answers at once; what it does not know, the secondary has
// not.

import { type Namespaces, ROOT } from '../../api/namespace.ts'
import type { Secondary } from '../../core/handed.ts'
import type { MountTable } from '../../core/mount-table.ts'
import { canKeep, type Filtered, filteredBy, type Placed, SYSTEM_TYPES } from '../../replication/set/filtered.ts'
import { PATHS_FILTER, type PathsFilter } from '../../replication/set/paths-filter.ts'
import { peerOfSegment } from '../../replication/set/peer-name.ts'
import { FILTERS_FOLDER, filterPath, findSecondary, SETS_FOLDER } from '../../replication/set/records.ts'
import { ROOT_NAMESPACE } from '../../storage/contract.ts'
import type { Invalidation } from '../../storage/invalidation.ts'
import type { View } from '../../storage/sealed-storage.ts'

/** Beginning of the keys of filters, after the namespace. */
const PREFIX = SETS_FOLDER.slice(`${ROOT_NAMESPACE}/`.length) + FILTERS_FOLDER

/** The parts that it works with. */
export type FilteredSecondariesParts = {
  /** The view of replication/set/records.ts. */
  readonly view: View
  readonly mounts: Pick<MountTable, 'all' | 'withUuid' | 'generation'>
  readonly namespaces: Pick<Namespaces, 'below' | 'generation'>
  readonly invalidation: Pick<Invalidation, 'register'>
}

/** A secondary that is let in, with its filter. */
type Known = {
  /** Undefined without one that can keep anything. */
  readonly filter: PathsFilter | undefined
  found: Found | undefined
}
/** What the filter came to, for these generations of the tables. */
type Found = { readonly filtered: Filtered; readonly mounts: number; readonly namespaces: number }

/** The secondaries of one server, on the thread that writes. */
export class FilteredSecondaries {
  readonly #parts: FilteredSecondariesParts
  readonly #known = new Map<string, Known>()
  /** Grows with each change of a filter: what was read before it is not kept. */
  #changes = 0

  constructor(parts: FilteredSecondariesParts) {
    this.#parts = parts
    const forget = (id: string | undefined): void => {
      this.#changes++
      if (id === undefined) this.#known.clear()
      else this.#known.delete(id)
    }
    parts.invalidation.register({
      prefix: PREFIX,
      changed: (segment) => forget(peerOfSegment(segment)),
      reset: () => forget(undefined),
    })
  }

  /** The secondary that is registered under the id, as it is at each call. */
  of(id: string): Secondary {
    const known = (): Known | undefined => this.#known.get(id)
    return {
      name: id,
      get stale() {
        return known() === undefined
      },
      refresh: () => this.#read(id),
      get rule() {
        return known()
      },
      reaches: (uuid) => this.#reaches(known(), uuid),
      get hasAll() {
        const now = known()
        return now !== undefined && now.filter === undefined
      },
    }
  }

  /** A filter goes with its secondary: of one that is not let in, nothing is kept. */
  async #read(id: string): Promise<void> {
    const changes = this.#changes
    const known = await this.#parts.view.transaction(async (tx): Promise<Known | undefined> => {
      const entry = await findSecondary(tx, 'performance', id)
      if (entry?.state !== 'active') return undefined
      const stored = await tx.get(filterPath(id))
      const filter = stored && PATHS_FILTER.decode(stored)
      return { filter: filter && canKeep(filter) ? filter : undefined, found: undefined }
    })
    if (known !== undefined && changes === this.#changes) this.#known.set(id, known)
  }

  #reaches(known: Known | undefined, uuid: string): boolean {
    if (known === undefined) return false
    if (known.filter === undefined) return true
    const { reach } = this.#filtered(known)
    const entry = this.#parts.mounts.withUuid(uuid)?.entry
    // Most of those are stored nowhere.
    if (entry !== undefined && SYSTEM_TYPES.has(entry.type)) return reach?.namespaces.has(entry.namespace) === true
    return reach?.mounts.has(uuid) === true
  }

  #filtered(known: Known): Filtered {
    const { mounts, namespaces } = this.#parts
    const { found } = known
    if (found?.mounts === mounts.generation && found.namespaces === namespaces.generation) return found.filtered
    const filtered = filteredBy(known.filter, this.#placed())
    known.found = { filtered, mounts: mounts.generation, namespaces: namespaces.generation }
    return filtered
  }

  #placed(): Placed {
    const { mounts, namespaces } = this.#parts
    return {
      namespaces: namespaces
        .below(ROOT)
        .map(({ id, path, name, parent = ROOT }) => ({ id, path, entry: `${parent.id}/${name}` })),
      mounts: mounts.all().filter(({ local }) => !local),
    }
  }
}
