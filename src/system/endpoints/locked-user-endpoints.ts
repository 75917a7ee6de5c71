// sys/locked-users: which names are locked after failed logins, and unlocking one before its time. The writing thread
// serves every login and has the counts, so both endpoints run there.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import { DEFAULT_LOCKOUT, type Lockout } from '../../api/lockout.ts'
import type { MountEntry } from '../../api/mount.ts'
import type { Namespace } from '../../api/namespace.ts'
import { DONE } from '../../api/request.ts'
import { group, integer, listOf, text } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'mounts'>

/** A login mount that locks names. */
type Guarded = { readonly mount: MountEntry; readonly lockout: Lockout }

/** Login mounts of a namespace whose method counts failed logins. */
function guarded(system: System, of: Namespace): Guarded[] {
  return guardedAmong(system, system.mounts.list(of))
}

/** Those of all namespaces. An accessor belongs to one mount of one namespace. */
const allGuarded = (system: System): Guarded[] => guardedAmong(system, system.mounts.all())

function guardedAmong(system: System, mounts: readonly MountEntry[]): Guarded[] {
  return mounts.flatMap((mount) => {
    const lockout = system.mounts.lockoutOf(mount.uuid)
    return lockout === undefined ? [] : [{ mount, lockout }]
  })
}

/** @throws Refusal if no login mount that locks names has the accessor */
function withAccessor(system: System, of: Namespace, accessor: string): Guarded {
  const found = guarded(system, of).find(({ mount }) => mount.accessor === accessor)
  if (found !== undefined) return found
  throw fail('field_invalid', ['mount_accessor', 'must be the accessor of a login mount that locks names (sys/auth)'])
}

/** The locked names of a mount, as they are now: a lock ends by time, without a write. */
function countOf({ mount, lockout }: Guarded) {
  const names = lockout.locked(mount.config.lockout ?? DEFAULT_LOCKOUT)
  return { mount_accessor: mount.accessor, counts: names.length, alias_identifiers: names }
}

const read = endpoint({
  id: 'locked-users-read',
  operation: 'read',
  path: 'locked-users',
  capability: 'read',
  runsOn: 'writer',
  writes: 'node',
  summary:
    'Lists the users locked out after failed logins, by login mount; mounts with the most locked users come first',
  fields: { mount_accessor: string('Accessor of a login mount: returns only its users', { default: '' }) },
  response: {
    by_namespace: listOf(
      group(
        {
          namespace_id: text('ID of the namespace'),
          namespace_path: text('Path of the namespace; empty: the root namespace'),
          counts: integer('Number of locked users in the namespace'),
          mount_accessors: listOf(
            group(
              {
                mount_accessor: text('Accessor of the login mount'),
                counts: integer('Number of locked users'),
                alias_identifiers: listOf(text('Name'), 'Names of the locked users, sorted'),
              },
              'Login mount',
            ),
            'Login mounts with locked users',
          ),
        },
        'Namespace',
      ),
      'Namespaces with locked users',
    ),
    total: integer('Total number of locked users'),
  },
  handler: (system: System, { mount_accessor: accessor }, { namespace }) => {
    const asked = accessor === '' ? guarded(system, namespace) : [withAccessor(system, namespace, accessor)]
    const mounts = asked.map(countOf).filter(({ counts }) => counts > 0)
    const total = mounts.reduce((sum, { counts }) => sum + counts, 0)
    const own = {
      namespace_id: namespace.id,
      namespace_path: namespace.path,
      counts: total,
      mount_accessors: mounts.toSorted((a, b) => b.counts - a.counts),
    }
    return { data: { by_namespace: total === 0 ? [] : [own], total } }
  },
})

const unlock = endpoint({
  id: 'locked-users-unlock',
  operation: 'update',
  path: 'locked-users/:mount_accessor/unlock/:alias_identifier...',
  capability: 'update',
  runsOn: 'writer',
  writes: 'node',
  summary: 'Unlocks a locked user; a user that is not locked is not an error',
  spelling: {
    field: 'alias_identifier',
    foldOf: (system: System, { mount_accessor: accessor }) =>
      allGuarded(system).find(({ mount }) => mount.accessor === accessor)?.lockout.canonical,
  },
  fields: {
    mount_accessor: string('Accessor of the login mount', { required: true }),
    alias_identifier: string('Name of the user, or the role_id of a role', { required: true }),
  },
  handler: (system: System, { mount_accessor: accessor, alias_identifier: name }, { namespace }) => {
    withAccessor(system, namespace, accessor).lockout.unlock(name)
    return DONE
  },
})

/** The list and the unlocking. Unlocking folds the name as the login method does (threats I-05). */
export const LOCKED_USER_ENDPOINTS: readonly Endpoint<System>[] = [read, unlock]
