// sys/replication/performance: which mounts and namespaces a secondary is to get (Interface 2.5, 4.5). Filters are kept
// and shown; nothing is filtered by them in this version, which the answer to a write says.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string, strings } from '../../api/fields.ts'
import { DONE } from '../../api/request.ts'
import { choice, listOf, text } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'
import { carryOut, type ReplicationSystem } from './replication-family.ts'

/** The parts of the system that they use. */
export type FilterSystem = ReplicationSystem & Pick<Whole, 'mounts' | 'namespaces'>

const HAS_NO_EFFECT =
  'The filter is kept, and this version applies none: the secondary gets everything. Do not rely on it to keep data ' +
  'from a region'
const MODES = ['allow', 'deny'] as const
const MOST_PATHS = 1_000

const COMMON = { runsOn: 'writer', writes: 'node', offeredIn: 'root', whileCopied: true } as const
const ID = {
  id: string('Id that the token of the secondary was made for, or the id of its cluster while it is connected', {
    required: true,
  }),
}
const OF_PRIMARY = { ...COMMON, path: 'replication/performance/primary/paths-filter/:id' } as const

const DYNAMIC = {
  dynamic_filtered_mounts: listOf(text('Path'), 'Mounts that the secondary does not get now'),
  dynamic_filtered_namespaces: listOf(text('Path'), 'Namespaces that the secondary does not get now'),
}
/** What is filtered as long as no filter has an effect. */
const NOTHING_FILTERED = { dynamic_filtered_mounts: [], dynamic_filtered_namespaces: [] }

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
  handler: async (system: FilterSystem, { id }) => {
    const filter = await carryOut(system, 'performance', ({ filters }) => filters.read(id))
    return filter === undefined ? { status: 200 } : { data: filter }
  },
})

const write: Endpoint<FilterSystem> = endpoint({
  ...OF_PRIMARY,
  id: 'paths-filter-write',
  operation: 'update',
  capability: 'update',
  alwaysWarns: true,
  summary: 'Sets which mounts and namespaces a secondary is to get',
  describe:
    'An id that gets a new token, or is revoked, has no filter any more. Mounts of the system cannot be filtered; a ' +
    'login method is named by auth/NAME/.',
  fields: {
    ...ID,
    mode: string('allow: nothing but the paths; deny: all but them', { default: 'allow' }),
    paths: strings('Paths of mounts and namespaces, from the root', { default: [] }),
  },
  handler: async (system: FilterSystem, { id, mode: given, paths }) => {
    const mode = MODES.find((one) => one === given)
    if (mode === undefined) throw fail('choice_unknown', ['mode', `must be one of: ${MODES.join(', ')}`])
    if (paths.length > MOST_PATHS) throw fail('out_of_range', ['paths', `must be ${MOST_PATHS} paths at most`])
    const wanted = { mode, paths: [...new Set(paths.map((path) => requirePath(system, path)))] }
    await carryOut(system, 'performance', ({ filters }) => filters.write(id, wanted))
    return { warnings: [HAS_NO_EFFECT] }
  },
})

/** The path with its last slash, if a mount or a namespace is there that may be filtered. @throws Refusal */
function requirePath({ mounts, namespaces }: FilterSystem, given: string): string {
  const path = `${given.replace(/^\/+|\/+$/g, '')}/`
  if (path === '/') throw fail('field_invalid', ['paths', 'names the root itself'])
  const namespace = namespaces.byPath(path)
  if (namespace !== undefined) return path
  const inside = namespaces.around(path)
  const entry = mounts.find(inside, path.slice(inside.path.length))
  if (entry === undefined) throw fail('field_invalid', ['paths', `names no mount and no namespace: ${path}`])
  if (entry.local) throw fail('field_invalid', ['paths', `names a local mount, which no secondary gets: ${path}`])
  if (SYSTEM_TYPES.has(entry.type)) throw fail('field_invalid', ['paths', `names a mount of the system: ${path}`])
  return path
}

/** Types of mounts that every server has, and that every secondary needs. */
const SYSTEM_TYPES: ReadonlySet<string> = new Set(['system', 'identity', 'cubbyhole', 'token'])

const remove: Endpoint<FilterSystem> = endpoint({
  ...OF_PRIMARY,
  id: 'paths-filter-delete',
  operation: 'delete',
  capability: 'delete',
  summary: 'Removes the filter of a secondary, if it has one',
  fields: ID,
  handler: async (system: FilterSystem, { id }) => {
    await carryOut(system, 'performance', ({ filters }) => filters.remove(id))
    return DONE
  },
})

const ofPrimary: Endpoint<FilterSystem> = endpoint({
  ...COMMON,
  id: 'dynamic-filter-primary-read',
  operation: 'read',
  capability: 'read',
  path: 'replication/performance/primary/dynamic-filter/:id',
  summary: 'Shows what a filter keeps from a secondary now',
  fields: ID,
  response: DYNAMIC,
  handler: async (system: FilterSystem, { id }) => {
    await carryOut(system, 'performance', ({ filters }) => filters.read(id))
    return { data: NOTHING_FILTERED }
  },
})

const ofSecondary: Endpoint<FilterSystem> = endpoint({
  ...COMMON,
  id: 'dynamic-filter-secondary-read',
  operation: 'read',
  capability: 'read',
  path: 'replication/performance/secondary/dynamic-filter/:id',
  summary: 'Shows, on the secondary itself, what a filter keeps from it now',
  fields: ID,
  response: DYNAMIC,
  handler: async (system: FilterSystem, { id }) => {
    await carryOut(system, 'performance', ({ filters }) => filters.requireOwn(id))
    return { data: NOTHING_FILTERED }
  },
})

/** Filters of secondaries for performance. */
export const PATHS_FILTER_ENDPOINTS: readonly Endpoint<FilterSystem>[] = [read, write, remove, ofPrimary, ofSecondary]
