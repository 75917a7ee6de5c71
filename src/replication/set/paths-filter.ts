// Which mounts and namespaces a secondary for performance is to get (Interface 2.5, 4.5). A filter belongs to the id of
// a secondary: it goes with a revocation, and with a new token for the id.
//
//   performance/filter/ID   in the view of `core/replication/` (records.ts)
import { oneOf, text, texts } from '../../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import { requireKept, requireOperation } from './primary-operations.ts'
import {
  FILTERS_FOLDER,
  filterPath,
  findSecondary,
  MAX_SECONDARIES,
  type SetReader,
  SetRefused,
  type SetTransaction,
} from './records.ts'

/** The stored form. */
export const PATHS_FILTER = storedRecord('A filter of a secondary', {
  id: text,
  /** 'allow': nothing but these paths. 'deny': all but these. */
  mode: oneOf('allow', 'deny'),
  /** Full paths of mounts and namespaces, each with its last '/'. */
  paths: texts,
})
/** A filter. */
export type PathsFilter = RecordOf<typeof PATHS_FILTER>

/** The filter of a secondary; undefined without one. @throws SetRefused unless this cluster is a primary that has it */
export async function readFilter(tx: SetReader, id: string): Promise<PathsFilter | undefined> {
  await requireKnown(tx, id)
  const stored = await tx.get(filterPath(id))
  return stored === undefined ? undefined : PATHS_FILTER.decode(stored)
}

/** The filters of all secondaries. */
export async function allFilters(tx: SetReader): Promise<PathsFilter[]> {
  const entries = await tx.scan(FILTERS_FOLDER, '', MAX_SECONDARIES + 1)
  return entries.map(({ value }) => PATHS_FILTER.decode(value))
}

/** @throws SetRefused as `readFilter`, and while the cluster hands over */
export async function putFilter(tx: SetTransaction, filter: PathsFilter): Promise<void> {
  await requireKnown(tx, filter.id)
  await requireKept(tx, 'performance')
  tx.put(filterPath(filter.id), PATHS_FILTER.encode(filter))
}

/** Removes the filter, if there is one. @throws SetRefused as `putFilter` */
export async function removeFilter(tx: SetTransaction, id: string): Promise<void> {
  await requireKnown(tx, id)
  await requireKept(tx, 'performance')
  tx.delete(filterPath(id))
}

/** Filters are of a primary, as its registry is. */
async function requireKnown(tx: SetReader, id: string): Promise<void> {
  await requireOperation(tx, 'performance', 'primary/paths-filter')
  const entry = await findSecondary(tx, 'performance', id)
  if (entry === undefined || entry.state === 'revoked')
    throw new SetRefused(404, 'No secondary has this id: make its token first, and "known_secondaries" lists it')
}
