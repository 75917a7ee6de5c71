// Which mounts and namespaces a secondary for performance is to get (Interface 2.5, 4.5). A filter belongs to the id of
// a secondary: it goes with a revocation, and with a new token for the id.
//
//   performance/filter/ID   in the view of `core/replication/` (records.ts)
import { oneOf, text, texts } from '../../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import type { FamilyOperation } from './family-operations.ts'
import { requireKept, requireOperation } from './primary-operations.ts'
import {
  allSecondaries,
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

/** A secondary by the id of its token and by that of its cluster, which is '' while that is not known. */
export type NamedSecondary = { readonly id: string; readonly clusterId: string }

/** The operations of a primary that name a secondary so. */
export type FilterOperation = Extract<FamilyOperation, 'primary/paths-filter' | 'primary/dynamic-filter'>

/**
 * The secondary that an operator names by either id; one that is also the id of a token means that. `connected`: the
 * secondaries that have a link now, with the ids of their clusters. A cluster that got another token may still have its
 * former id: then the one that it is connected by counts.
 * @throws SetRefused for an id that nobody has, and for a cluster that could have either of two
 */
export async function namedSecondary(
  tx: SetReader,
  given: string,
  operation: FilterOperation,
  connected: ReadonlyMap<string, string>,
): Promise<NamedSecondary> {
  await requireOperation(tx, 'performance', operation)
  const known = (await allSecondaries(tx, 'performance')).filter(({ state }) => state !== 'revoked')
  const named = known.map(({ id, clusterId }) => ({ id, clusterId: connected.get(id) ?? clusterId }))
  const ofToken = named.find(({ id }) => id === given)
  if (ofToken !== undefined) return ofToken
  const ofCluster = named.filter(({ clusterId }) => given !== '' && clusterId === given)
  const present = ofCluster.filter(({ id }) => connected.has(id))
  const [found, other] = present.length > 0 ? present : ofCluster
  if (found === undefined) throw new SetRefused(404, UNKNOWN)
  if (other === undefined) return found
  throw new SetRefused(
    400,
    `The cluster of this id came as "${found.id}" and as "${other.id}": give the one that it goes by now, which is ` +
      '"secondary_id" of its status, and revoke the other',
  )
}

const UNKNOWN =
  'No secondary has this id: it is that of a token that was made before, as "known_secondaries" lists it, or that of ' +
  'the cluster that came with the token'

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
  if (entry === undefined || entry.state === 'revoked') throw new SetRefused(404, UNKNOWN)
}
