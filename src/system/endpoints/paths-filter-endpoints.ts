// sys/replication/performance: which mounts and namespaces a secondary gets (Interface 2.5, 4.5).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { bool, string, strings } from '../../api/fields.ts'
import { type Answer, DONE, type RequestInfo } from '../../api/request.ts'
import { choice, listOf, text } from '../../api/shape.ts'
import { withoutOuterSlashes } from '../../lib/slashes.ts'
import { SYSTEM_TYPES } from '../../replication/set/filtered.ts'
import type { FilterOperation } from '../../replication/set/paths-filter.ts'
import { faultOfPeerId } from '../../replication/set/peer-name.ts'
import type { FilteredPaths } from '../replication-operations.ts'
import type { System as Whole } from '../system.ts'
import { carryOut, type ReplicationSystem } from './replication-family.ts'

/** The parts of the system that they use. */
export type FilterSystem = ReplicationSystem & Pick<Whole, 'mounts' | 'namespaces'>

const MODES = ['allow', 'deny'] as const
const MOST_PATHS = 1_000

const COMMON = { runsOn: 'writer', writes: 'node', offeredIn: 'root', whileCopied: true } as const
const ID = {
  id: string('Id that the token of the secondary was made for, or the id of the cluster that came with it', {
    required: true,
  }),
}
const OF_FAMILY = 'replication/performance/'
const FILTERS = 'primary/paths-filter'
const FILTERED = 'primary/dynamic-filter'
// An id is the rest of the path: it may be any text, slashes included.
const OF_PRIMARY = { ...COMMON, path: `${OF_FAMILY}${FILTERS}/:id...` } as const

const DYNAMIC = {
  dynamic_filtered_mounts: listOf(text('Path'), 'Mounts that the secondary does not get now'),
  dynamic_filtered_namespaces: listOf(text('Path'), 'Namespaces that the secondary does not get now'),
}

const dynamic = ({ mounts, namespaces }: FilteredPaths): Answer => ({
  data: { dynamic_filtered_mounts: mounts, dynamic_filtered_namespaces: namespaces },
})

const read: Endpoint<FilterSystem> = endpoint({
  ...OF_PRIMARY,
  id: 'paths-filter-read',
  operation: 'read',
  capability: 'read',
  summary: 'Shows the filter of a secondary; without one the answer is empty',
  fields: ID,
  response: {
    mode: choice(MODES, 'allow: nothing but the paths; deny: all but them'),
    paths: listOf(text('Path'), 'Paths of mounts and namespaces'),
  },
  mayBeEmpty: true,
  handler: async (system: FilterSystem, { id }, { caller }) => {
    const token = await tokenIdOf(system, id, { caller, operation: FILTERS })
    const filter = await carryOut(system, 'performance', ({ filters }) => filters.read(token))
    return filter === undefined ? { status: 200 } : { data: filter }
  },
})

const write: Endpoint<FilterSystem> = endpoint({
  ...OF_PRIMARY,
  standInRelies: true,
  id: 'paths-filter-write',
  operation: 'update',
  capability: 'update',
  summary: 'Sets which mounts and namespaces a secondary gets',
  describe:
    'A namespace stands for all that is in it; a login method is named by auth/NAME/. A mount that is made or moved ' +
    'later is judged by its path. What is filtered is gone from the secondary at once. An id that gets a new token, ' +
    'or is revoked, has no filter any more. Mounts of the system cannot be filtered. In the path the id is ' +
    'percent-encoded; one with a part between its slashes that is empty, "." or ".." can be in no path, so give the ' +
    'id of its cluster.',
  fields: {
    ...ID,
    mode: string('allow: nothing but the paths; deny: all but them', { default: 'allow' }),
    paths: strings('Paths of mounts and namespaces, from the root', { default: [] }),
    dry_run: bool('Only shows what the filter would change for the secondary', { default: false }),
  },
  response: {
    would_appear: listOf(text('Path'), 'Mounts and namespaces that the secondary would get, with dry_run'),
    would_vanish: listOf(text('Path'), 'Mounts and namespaces that it would have no more, with dry_run'),
  },
  mayBeEmpty: true,
  handler: async (system: FilterSystem, { id, mode: given, paths, dry_run: isDryRun }, { caller }) => {
    requireId(id)
    const mode = MODES.find((one) => one === given)
    if (mode === undefined) throw fail('choice_unknown', ['mode', `must be one of: ${MODES.join(', ')}`])
    if (paths.length > MOST_PATHS) throw fail('out_of_range', ['paths', `must be ${MOST_PATHS} paths at most`])
    // First: the paths of a cluster that is no primary say nothing.
    const token = await tokenIdOf(system, id, { caller, operation: FILTERS })
    const wanted = { mode, paths: [...new Set(paths.map((path) => requirePath(system, path)))] }
    if (isDryRun) {
      const effect = await carryOut(system, 'performance', ({ filters }) => filters.preview(token, wanted))
      return { data: { would_appear: effect.appearing, would_vanish: effect.vanishing }, storedNothing: true }
    }
    await carryOut(system, 'performance', ({ filters }) => filters.write(token, wanted))
    return DONE
  },
})

/** @throws Refusal for what no secondary's id can be */
function requireId(id: string): void {
  const fault = faultOfPeerId(id)
  if (fault !== undefined) throw fail('field_invalid', ['id', fault])
}

/**
 * The id of the token of the secondary that an id names. A rule about its other id holds for the request too, as its
 * path could have that one (threats T-09). @throws Refusal if there is none, and for who is denied it
 */
async function tokenIdOf(system: FilterSystem, id: string, asked: Asked): Promise<string> {
  requireId(id)
  const secondary = await carryOut(system, 'performance', ({ filters }) => filters.named(id, asked.operation))
  for (const other of [secondary.id, secondary.clusterId]) {
    const isOther = other !== '' && other !== id
    if (isOther && asked.caller?.isRefusedAt(`${OF_FAMILY}${asked.operation}/${other}`) === true)
      throw fail('permission_denied', [])
  }
  return secondary.id
}

/** Who asks, and for what. */
type Asked = Pick<RequestInfo, 'caller'> & { readonly operation: FilterOperation }

/** The path with its last slash, if a mount or a namespace is there that may be filtered. @throws Refusal */
function requirePath({ mounts, namespaces }: FilterSystem, given: string): string {
  const path = `${withoutOuterSlashes(given)}/`
  if (path === '/') throw fail('field_invalid', ['paths', 'names the root itself'])
  const namespace = namespaces.byPath(path)
  if (namespace !== undefined) return path
  const inside = namespaces.around(path)
  const within = path.slice(inside.path.length)
  // A shared mount that a local one hides here goes to secondaries as any other.
  const entry = mounts.find(inside, within, 'shared') ?? mounts.find(inside, within)
  if (entry === undefined) throw fail('field_invalid', ['paths', `names no mount and no namespace: ${path}`])
  if (entry.local) throw fail('field_invalid', ['paths', `names a local mount, which no secondary gets: ${path}`])
  if (SYSTEM_TYPES.has(entry.type)) throw fail('field_invalid', ['paths', `names a mount of the system: ${path}`])
  return path
}

const remove: Endpoint<FilterSystem> = endpoint({
  ...OF_PRIMARY,
  standInRelies: true,
  id: 'paths-filter-delete',
  operation: 'delete',
  capability: 'delete',
  summary: 'Removes the filter of a secondary, if it has one',
  fields: ID,
  handler: async (system: FilterSystem, { id }, { caller }) => {
    const token = await tokenIdOf(system, id, { caller, operation: FILTERS })
    await carryOut(system, 'performance', ({ filters }) => filters.remove(token))
    return DONE
  },
})

const ofPrimary: Endpoint<FilterSystem> = endpoint({
  ...COMMON,
  id: 'dynamic-filter-primary-read',
  operation: 'read',
  capability: 'read',
  path: `${OF_FAMILY}${FILTERED}/:id...`,
  summary: 'Shows what a filter keeps from a secondary now',
  fields: ID,
  response: DYNAMIC,
  handler: async (system: FilterSystem, { id }, { caller }) => {
    const token = await tokenIdOf(system, id, { caller, operation: FILTERED })
    return dynamic(await carryOut(system, 'performance', ({ filters }) => filters.filtered(token)))
  },
})

const ofSecondary: Endpoint<FilterSystem> = endpoint({
  ...COMMON,
  id: 'dynamic-filter-secondary-read',
  operation: 'read',
  capability: 'read',
  path: 'replication/performance/secondary/dynamic-filter/:id...',
  summary: 'Shows, on the secondary itself, what a filter keeps from it now',
  describe: 'The primary is asked: a secondary keeps no names of what is filtered.',
  fields: ID,
  response: DYNAMIC,
  handler: async (system: FilterSystem, { id }) => {
    requireId(id)
    return dynamic(await carryOut(system, 'performance', ({ filters }) => filters.filteredHere(id)))
  },
})

/** Filters of secondaries for performance. */
export const PATHS_FILTER_ENDPOINTS: readonly Endpoint<FilterSystem>[] = [read, write, remove, ofPrimary, ofSecondary]
