// sys/health and sys/leader: what load balancers and clients ask first. They need no token and answer while sealed.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { bool, int } from '../../api/fields.ts'
import { isCopied, type NodeRole, shownState } from '../../api/node-role.ts'
import { flag, group, integer, optional, text } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'
import { clusterShown, versionShown } from './shown-facts.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'edition' | 'facts' | 'nodeRole' | 'sealStatus' | 'world'>

/** Clients decode these members, so they are there although no licence can end. */
const NO_LICENSE = { state: 'none', expiry_time: '', terminated: false }

/** From 200 on: after a status of 1xx a client waits for the final answer (RFC 9110 section 15.2). */
const statusCode = (about: string) => int(`Status code to return if the node is ${about}`, { min: 200, max: 599 })

// The caller may choose each status: many load balancers take any but 200 for a fault.
const health = endpoint({
  id: 'health',
  operation: 'read',
  path: 'health',
  capability: 'none',
  offeredIn: 'root',
  whileSealed: true,
  body: 'plain',
  runsOn: 'any-node',
  onDrSecondary: 'open',
  summary: 'Shows the health of this node, also in the status code: 200 active, 501 not initialised, 503 sealed',
  describe:
    'A secondary for disaster recovery answers 472. A standby answers 473, since it serves reads, and so does a ' +
    'primary that another cluster took over from, and a performance secondary whose copy is not whole: none is of ' +
    'the kind that answers 429. A performance secondary that has all of it serves clients, and is healthy with 200.',
  fields: {
    activecode: statusCode('active'),
    standbycode: statusCode('a standby'),
    sealedcode: statusCode('sealed'),
    uninitcode: statusCode('not initialised'),
    drsecondarycode: statusCode('a DR secondary'),
    performancestandbycode: statusCode('a performance standby, or a primary that another cluster took over from'),
    removedcode: statusCode('removed from its cluster'),
    haunhealthycode: statusCode('unhealthy'),
    standbyok: bool('A standby returns the status code of an active node'),
    perfstandbyok: bool('What performancestandbycode is for returns the status code of an active node'),
  },
  response: {
    initialized: flag('The server is initialised'),
    sealed: flag('The server is sealed'),
    standby: flag('The node is not active: true for a standby, and while it is sealed'),
    performance_standby: flag('The node is a standby'),
    replication_performance_mode: text(
      'Role in performance replication: disabled, bootstrapping, primary or secondary; unknown while it is sealed',
    ),
    replication_dr_mode: text('Role in disaster recovery, likewise'),
    server_time_utc: integer('Server time, Unix time in seconds'),
    version: text('Version that clients check for compatibility'),
    enterprise: flag('The edition is not community'),
    license: group(
      {
        state: text('Always none: there is no licence that could expire'),
        expiry_time: text('Always empty: nothing expires'),
        terminated: flag('Always false: nothing expires'),
      },
      'Licence',
    ),
    cluster_name: optional(text('Name of the cluster, while unsealed')),
    cluster_id: optional(text('ID of the cluster, while unsealed')),
    echo_duration_ms: integer('Always 0: there is no other active node'),
    clock_skew_ms: integer('Always 0: there is no other active node'),
    replication_primary_canary_age_ms: integer('Always 0: the status of replication has it'),
  },
  handler: (system: System, args, request) => {
    const { initialized, sealed, cluster } = system.sealStatus()
    const role = system.nodeRole()
    return {
      status: healthCode({ initialized, sealed, role }, args),
      data: {
        initialized,
        sealed,
        standby: sealed || role.isStandby,
        performance_standby: role.isStandby,
        replication_performance_mode: sealed ? UNKNOWN : shownState(role, 'performance'),
        replication_dr_mode: sealed ? UNKNOWN : shownState(role, 'dr'),
        server_time_utc: Math.floor(system.world.clock.nowMs() / 1000),
        version: versionShown(system, request),
        enterprise: system.edition !== 'community',
        license: NO_LICENSE,
        ...clusterShown(cluster, request),
        echo_duration_ms: 0,
        clock_skew_ms: 0,
        replication_primary_canary_age_ms: 0,
      },
    }
  },
})

/** Its records say what it is in its sets, and only its keys open them. */
const UNKNOWN = 'unknown'

type HealthCodes = Partial<
  Readonly<
    Record<
      'uninitcode' | 'sealedcode' | 'drsecondarycode' | 'performancestandbycode' | 'activecode',
      number | undefined
    > & { readonly perfstandbyok: boolean | undefined }
  >
>
type Health = { readonly initialized: boolean; readonly sealed: boolean; readonly role: NodeRole }

/**
 * The status code, by the first that holds. What is being copied counts as a secondary. A caller may choose another
 * code for each.
 */
function healthCode({ initialized, sealed, role }: Health, codes: HealthCodes): number {
  if (!initialized) return codes.uninitcode ?? 501
  if (sealed) return codes.sealedcode ?? 503
  if (role.dr === 'secondary' || role.dr === 'bootstrapping') return codes.drsecondarycode ?? 472
  // A load balancer that sends clients to any 200 is to send them to the primary that writes.
  const readsAlone = role.isStandby || role.isFenced || isCopied(role)
  if (readsAlone && codes.perfstandbyok !== true) return codes.performancestandbycode ?? 473
  return codes.activecode ?? 200
}

const leader = endpoint({
  id: 'leader',
  operation: 'read',
  path: 'leader',
  capability: 'none',
  offeredIn: 'all',
  whileSealed: true,
  body: 'plain',
  runsOn: 'any-node',
  onDrSecondary: 'open',
  summary: 'Shows the active node; without HA, only the addresses of this node',
  fields: {},
  response: {
    ha_enabled: flag('Always false: the storage is not shared'),
    is_self: flag('Always false: there is no election without HA'),
    active_time: text('Always the zero time, without HA'),
    leader_address: text('API address of this node; empty if the listener redacts addresses'),
    leader_cluster_address: text('Cluster address of this node; empty if the listener redacts addresses'),
    performance_standby: flag('The node is a standby'),
    performance_standby_last_remote_wal: integer('Always 0: there are no standbys'),
  },
  handler: (system: System, _args, { listener }) => ({
    data: {
      ha_enabled: false,
      is_self: false,
      active_time: '0001-01-01T00:00:00Z',
      leader_address: listener?.redacts.addresses === true ? '' : system.facts.apiAddress,
      leader_cluster_address: listener?.redacts.addresses === true ? '' : (system.facts.clusterAddress ?? ''),
      performance_standby: system.nodeRole().isStandby,
      performance_standby_last_remote_wal: 0,
    },
  }),
})

/** Health and leader. Both touch neither store nor keys, so a probe costs next to nothing. */
export const STATUS_ENDPOINTS: readonly Endpoint<System>[] = [health, leader]
