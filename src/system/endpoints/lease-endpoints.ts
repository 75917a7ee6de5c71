// sys/leases and its older paths: each operation is one function, served at all its paths (threats T-09). The leases
// here are those of tokens, so ending a lease ends its token.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { bool, duration, int, string } from '../../api/fields.ts'
import { LIST_OF_NAMES, namesAnswer } from '../../api/named-things.ts'
import type { Namespace } from '../../api/namespace.ts'
import { DONE } from '../../api/request.ts'
import { flag, group, integer, listOf, mapOf, nullable, optional, type Shapes, text } from '../../api/shape.ts'
import { tidyWarning } from '../../auth/token-tidy.ts'
import { dictionary } from '../../lib/own.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'leases' | 'mounts'>

/** A lease is of the namespace at the end of its id, wherever it is asked about. */
const MOVES = { movesTo: { field: 'lease_id', names: 'lease' } } as const
const leaseField = { lease_id: string('ID of the lease', { required: true }) }
const prefixField = { prefix: string('Path prefix of the leases', { required: true }) }
// Differs: docs/differences.md#tokens-and-policies. Without `sync` too, the answer comes when it is done.
const syncField = {
  sync: bool('Accepted but ignored: the response is always sent after the revocation is done', { default: true }),
}

const LEASE: Shapes = {
  id: text('ID of the lease'),
  path: text('Path of the request that created the lease'),
  issue_time: text('Time of creation, RFC 3339'),
  expire_time: nullable(text('Expiration time, RFC 3339; null: never expires')),
  last_renewal: nullable(text('Time of the last renewal, RFC 3339; null: not renewed yet')),
  namespace_path: optional(text('Path of its namespace; absent in the root')),
  renewable: flag('The lease can be renewed'),
  ttl: integer('Remaining TTL in seconds; 0: never expires'),
}

const lookup = endpoint({
  id: 'leases-lookup',
  operation: 'update',
  path: 'leases/lookup',
  ...MOVES,
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Looks up a lease',
  fields: leaseField,
  response: LEASE,
  handler: async (system: System, { lease_id: id }, { namespace }) => ({
    data: await system.leases.lookup(namespace.id, id),
  }),
})

const list = endpoint({
  ...LIST_OF_NAMES,
  id: 'leases-list',
  path: 'leases/lookup(/:prefix...)',
  sudo: true,
  summary: 'Lists the leases under a path prefix',
  fields: {
    prefix: string('Path prefix of the leases', { default: '' }),
    after: string('Returns only names that sort after this one', { default: '' }),
    limit: int('Maximum number of names to return; 0: all', { default: 0, min: 0 }),
  },
  handler: async (system: System, { prefix, ...page }, { namespace }) =>
    namesAnswer(await system.leases.list(namespace.id, prefix, page)),
})

/** Maps the older path of an operation to the newer one, and back. */
const BESIDE: ReadonlyMap<string, string> = new Map(
  ['renew', 'revoke', 'revoke-prefix', 'revoke-force'].flatMap((old) => [
    [old, `leases/${old}`] as const,
    [`leases/${old}`, old] as const,
  ]),
)

/** Returns the other path of the same request: a policy that denies it there must hold here too. */
const twinsOf =
  (path: string, field: 'lease_id' | 'prefix') =>
  (names: Readonly<Record<string, string>>): readonly string[] => {
    const twin = BESIDE.get(path) ?? ''
    return [names[field] === undefined ? twin : `${twin}/${names[field]}`]
  }

/** Twins of an operation whose lease may stand in the path or in the body. */
const leaseTwins = (path: string) => ({
  ...MOVES,
  twins: twinsOf(path, 'lease_id'),
  alsoNames: [
    {
      field: 'lease_id',
      operation: 'update' as const,
      at: (id: string) => `${BESIDE.get(path)}/${id}`,
      onlyDenials: true as const,
    },
  ],
})

/** Renews the token that the lease belongs to. Differs: docs/differences.md#tokens-and-policies. */
const renew = (id: string, path: string) =>
  endpoint({
    id,
    operation: 'update',
    path: `${path}(/:lease_id...)`,
    ...leaseTwins(path),
    capability: 'update',
    runsOn: 'writer',
    writes: 'both',
    summary: 'Renews a lease, by renewing the token that it belongs to',
    fields: {
      ...leaseField,
      increment: duration('Requested TTL from now, in seconds; 0: the TTL set at creation', { default: 0 }),
    },
    givesToken: true,
    handler: (system: System, { lease_id: lease, increment }, { namespace }) =>
      system.leases.renew(namespace.id, lease, increment),
  })

/** Ends one lease. The token's children end with it, so nothing that it made outlives it. */
const revoke = (id: string, path: string) =>
  endpoint({
    id,
    operation: 'update',
    path: `${path}(/:lease_id...)`,
    ...leaseTwins(path),
    capability: 'update',
    runsOn: 'writer',
    writes: 'cluster',
    summary:
      'Revokes a lease, by revoking the token that it belongs to and its children; an unknown lease is not an error',
    fields: { ...leaseField, ...syncField },
    handler: async (system: System, { lease_id: lease }, { namespace }) => {
      await system.leases.revoke(namespace.id, lease)
      return DONE
    },
  })

/** Ends all leases below a path; leases of tokens lie below the path of their login. It needs sudo for its reach. */
const revokePrefix = (id: string, path: string, summary: string) =>
  endpoint({
    id,
    operation: 'update',
    path: `${path}/:prefix...`,
    twins: twinsOf(path, 'prefix'),
    capability: 'update',
    sudo: true,
    runsOn: 'writer',
    writes: 'cluster',
    summary,
    fields: { ...prefixField, ...syncField },
    handler: async (system: System, { prefix }, { namespace }) => {
      await system.leases.revokePrefix(namespace.id, prefix)
      return DONE
    },
  })

// Forcing does what revoking does here: no credential outside the server has to be given back.
const BY_PREFIX = 'Revokes all leases under a path prefix'
const BY_FORCE =
  'Revokes all leases under a path prefix, like revoke-prefix: revoking a token depends on no external service'

// Answered at once: the work takes as long as the store is large. A second call while it runs starts nothing.
const tidy = endpoint({
  id: 'leases-tidy',
  operation: 'update',
  path: 'leases/tidy',
  capability: 'update',
  runsOn: 'writer',
  writes: 'cluster',
  summary: 'Starts a background task that removes leftover data of expired leases',
  fields: {},
  handler: (system: System) => ({ status: 202, warnings: [tidyWarning(system.leases.startTidy())] }),
})

// Leases that could not be ended stay visible and are tried again (threats T-15). The writing thread ends leases, so
// it alone knows them.
const typeField = {
  type: string('Must be irrevocable: leases that have expired but could not be revoked', { required: true }),
}

/** Refuses all other types. Irrevocable leases are those that could not be ended. */
function requireIrrevocable(type: string): void {
  if (type !== 'irrevocable') throw fail('field_invalid', ['type', 'must be irrevocable'])
}

/** The accessor of the mount that the lease lies below; '' if that is gone. */
const accessorOf = ({ mounts }: System, { path }: Namespace, leaseId: string): string =>
  mounts.serving(path + leaseId)?.accessor ?? ''

const count = endpoint({
  id: 'leases-count',
  operation: 'read',
  path: 'leases/count',
  capability: 'read',
  runsOn: 'writer',
  writes: 'node',
  summary: 'Counts the leases that could not be revoked',
  fields: typeField,
  response: {
    lease_count: integer('Total number of these leases'),
    counts: mapOf(integer('Number of leases'), 'Number of leases, by mount accessor'),
  },
  handler: async (system: System, { type }, { namespace }) => {
    requireIrrevocable(type)
    const counts = dictionary<number>()
    const stuck = await system.leases.stuck(namespace.id)
    for (const { leaseId } of stuck) {
      const mount = accessorOf(system, namespace, leaseId)
      counts[mount] = (counts[mount] ?? 0) + 1
    }
    return { data: { lease_count: stuck.length, counts } }
  },
})

const stuck = endpoint({
  id: 'leases-read',
  operation: 'read',
  path: 'leases',
  capability: 'read',
  sudo: true,
  runsOn: 'writer',
  writes: 'node',
  summary: 'Lists the leases that could not be revoked',
  fields: { ...typeField, limit: int('Maximum number of leases to return; 0: all', { default: 0, min: 0 }) },
  response: {
    lease_count: integer('Total number of these leases'),
    leases: listOf(
      group(
        {
          lease_id: text('ID of the lease'),
          mount_accessor: text('Accessor of its mount'),
          error: text('Cause of the failure'),
        },
        'Lease',
      ),
      'Leases that could not be revoked',
    ),
  },
  handler: async (system: System, { type, limit }, { namespace }) => {
    requireIrrevocable(type)
    const all = await system.leases.stuck(namespace.id)
    const leases = (limit > 0 ? all.slice(0, limit) : all).map(({ leaseId, cause }) => ({
      lease_id: leaseId,
      mount_accessor: accessorOf(system, namespace, leaseId),
      error: cause,
    }))
    return { data: { lease_count: all.length, leases } }
  },
})

/** Every operation at its newer path, and at the older one if there is one. */
export const LEASE_ENDPOINTS: readonly Endpoint<System>[] = [
  lookup,
  list,
  renew('leases-renew', 'leases/renew'),
  renew('leases-renew-old', 'renew'),
  revoke('leases-revoke', 'leases/revoke'),
  revoke('leases-revoke-old', 'revoke'),
  revokePrefix('leases-revoke-prefix', 'leases/revoke-prefix', BY_PREFIX),
  revokePrefix('leases-revoke-prefix-old', 'revoke-prefix', BY_PREFIX),
  revokePrefix('leases-revoke-force', 'leases/revoke-force', BY_FORCE),
  revokePrefix('leases-revoke-force-old', 'revoke-force', BY_FORCE),
  tidy,
  count,
  stuck,
]
