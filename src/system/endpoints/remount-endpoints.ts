// sys/remount: gives a mount another path. Data are stored under the mount's UUID and do not move, so the move is done
// when the request is answered. Clients ask for its status afterwards, which is kept for a while.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import type { NamespacedPath } from '../../api/mount.ts'
import { type Namespace, ROOT } from '../../api/namespace.ts'
import type { Sight } from '../../api/node-role.ts'
import { group, text } from '../../api/shape.ts'
import { folder, namedIn, ownerOfMount, systemMountOf } from '../mount-view.ts'
import type { Migration, System as Whole } from '../system.ts'
import { mountPath } from './mount-endpoints.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'leases' | 'migrations' | 'mounts' | 'namespaces' | 'world'>

/** The path of this API at which a mount is made and removed. */
function mountPathOf(given: string): string {
  const path = given
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')
  return path.startsWith('auth/') ? path : `mounts/${path}`
}

/** A move, as it is asked for. */
type Move = { readonly from: string; readonly to: string }

/** What a move is kept as: full paths. */
const migrationOf = (within: Namespace, { from, to }: Move, of: readonly string[]): Migration => ({
  source: within.path + folder(from),
  target: within.path + folder(to),
  of,
})

/** The mount that the primary moved, which may have come already, and those that show its namespaces. */
function movedByPrimary(system: System, within: Namespace, { from, to }: Move): readonly string[] {
  const [source, target] = [sourceOf(system, within, from, 'shared'), namedIn(system, within, to)]
  const found = [target, source].map(({ namespace, path }) => system.mounts.find(namespace, path, 'shared'))
  const around = [source, target].map(({ namespace }) => systemMountOf(system.mounts, namespace))
  return [found[0] ?? found[1], ...around].map((mount) => mount?.uuid ?? '')
}

/**
 * A filter may have taken the mount from a secondary since, or a namespace that a path names. What had not come yet
 * when it was moved is looked for where it is now.
 */
function isShown(system: System, { of, target }: Migration): boolean {
  const there = new Set(system.mounts.all().map(({ uuid }) => uuid))
  const { namespace, path } = namedIn(system, ROOT, target)
  const isAtTarget = (): boolean => system.mounts.find(namespace, path, 'shared') !== undefined
  return of.every((uuid) => (uuid === '' ? isAtTarget() : there.has(uuid)))
}

/** What is to be moved. A mount of here may lie where the primary of a set made a namespace: it goes before that. */
function sourceOf({ mounts, namespaces }: System, within: Namespace, from: string, sight: Sight): NamespacedPath {
  const isHere = mounts.find(within, folder(from), sight) !== undefined
  return isHere ? { namespace: within, path: folder(from) } : namedIn({ namespaces }, within, from)
}

const remount = endpoint({
  id: 'remount',
  operation: 'update',
  path: 'remount',
  capability: 'update',
  // A move removes a mount from one path and makes it at another: a caller who is denied either must not move it.
  alsoNames: [
    { field: 'from', operation: 'delete', at: mountPathOf, onlyDenials: true, mayLieBelow: true },
    { field: 'to', operation: 'update', at: mountPathOf, onlyDenials: true, mayLieBelow: true },
  ],
  sudo: true,
  body: 'both',
  runsOn: 'writer',
  writes: (system: System, { from }, within, sight) => {
    const { namespace, path } = sourceOf(system, within, from, sight)
    return ownerOfMount(system.mounts, namespace, path, sight)
  },
  namedMounts: (system: System, args, within) => {
    const [from, to] = [sourceOf(system, within, args.from, 'shared'), namedIn(system, within, args.to)]
    const places = [from, to].map(({ namespace }) => systemMountOf(system.mounts, namespace))
    return [system.mounts.find(from.namespace, from.path, 'shared'), ...places]
  },
  summary: 'Moves a mount to another path and keeps its data; for a login method, prefix both paths with auth/',
  describe: 'Either path may begin with a namespace below. A mount that moves to another loses its leases and tokens.',
  fields: {
    from: string('Current path of the mount', { required: true }),
    to: string('New path of the mount', { required: true }),
  },
  response: { migration_id: text('ID to query the status with') },
  afterPrimary: (system: System, args, within, { data }) => {
    const { migration_id: id } = (data ?? {}) as { readonly migration_id?: unknown }
    if (typeof id === 'string')
      system.migrations.keep(id, migrationOf(within, args, movedByPrimary(system, within, args)))
  },
  handler: async (system: System, args, { namespace: within, sight }) => {
    const [from, to] = [sourceOf(system, within, args.from, sight), namedIn(system, within, args.to)]
    mountPath(to.path)
    if (from.path.startsWith('auth/') !== to.path.startsWith('auth/'))
      throw fail('path_not_allowed', ['cannot remount between a secrets mount and an auth mount'])
    const before = system.mounts.find(from.namespace, from.path, sight)
    await system.mounts.move(from, to, sight)
    // What it gave belongs to the namespace that it left.
    if (before !== undefined && from.namespace.id !== to.namespace.id) await system.leases.revokeByMount(before)
    const id = system.world.random.uuid()
    system.migrations.keep(id, migrationOf(within, args, []))
    return {
      data: { migration_id: id },
      warnings: ['Mount move has been queued. It is done: sys/remount/status tells its progress by the migration_id'],
    }
  },
})

const status = endpoint({
  id: 'remount-status',
  operation: 'read',
  path: 'remount/status/:id',
  capability: 'read',
  body: 'both',
  // The list of moves is in that thread's memory.
  runsOn: 'writer',
  writes: 'node',
  summary: 'Shows the status of the move of a mount',
  describe:
    'Known to the cluster that answered the move, until it restarts, and to the primary that carried it out. A ' +
    'secondary from which a filter has taken the mount tells nothing of it.',
  fields: { id: string('The migration_id of the move', { required: true }) },
  response: {
    migration_id: text('The migration_id that was sent'),
    migration_info: group(
      { source_mount: text('Previous path'), target_mount: text('New path'), status: text('success') },
      'Details of the move',
    ),
  },
  handler: (system: System, { id }) => {
    const found: Migration | undefined = system.migrations.find(id)
    if (found === undefined || !isShown(system, found)) throw fail('not_found', [])
    const { source: source_mount, target: target_mount } = found
    return { data: { migration_id: id, migration_info: { source_mount, target_mount, status: 'success' } } }
  },
})

/** Endpoints that move a mount to another path, and say how far a move is. */
export const REMOUNT_ENDPOINTS: readonly Endpoint<System>[] = [remount, status]
