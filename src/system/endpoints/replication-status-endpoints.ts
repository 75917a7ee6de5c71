// sys/replication: what this cluster is in both families of replication (Interface 4.4, 4.5). Anyone may ask, as other
// clusters, load balancers and monitors do without a token. What is told but the mode is a second old at most.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { shownState } from '../../api/node-role.ts'
import type { RequestInfo } from '../../api/request.ts'
import { flag, group, integer, listOf, optional, type Shapes, text } from '../../api/shape.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { requireStatusShown } from '../replication-gates.ts'
import type { WithServices } from '../services.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
export type StatusSystem = Pick<Whole, 'nodeRole' | 'mounts'> & WithServices<'replication'>

const HOLD = {
  name: text('Who needs the records'),
  kind: text('secondary: a cluster that follows; copy: a copy that is running'),
  after: integer('The records behind this index are needed'),
  bytes: integer('Bytes of those that are there, about'),
  max_bytes: integer('Bytes of the log up to which they are retained: a setting of the storage stanza'),
  broken: flag('True if some of them are gone: the secondary or the copy has to start over'),
}

const PEER = {
  api_address: text('Where its API answers; empty if that is not known, or the listener withholds addresses'),
  cluster_address: text('Where its cluster port answers; likewise'),
  connection_status: text('connected or disconnected'),
  last_heartbeat: text('Time of its last heartbeat, RFC 3339; year 1: there was none'),
  last_heartbeat_duration_ms: text('Round trip of that, in milliseconds; 0 also if not known'),
  clock_skew_ms: text('How far its clock is ahead, in milliseconds; negative if it is behind, 0 also if not known'),
  replication_primary_canary_age_ms: text(
    'Age of the newest place of the log of the primary up to which the secondary has everything for certain, in ' +
      'milliseconds; 0 also if not known',
  ),
}

const OF_PRIMARY = {
  former_primary: text(
    'Until each former primary knows that it was replaced, by this cluster or one before it: why they do not; ' +
      '"is called" where addresses are withheld',
  ),
  promoted_from: group(
    {
      history_id: text('Id of the history of its former primary, in hexadecimal'),
      index: integer('Index of the last change of it that was applied: later ones of that history are not in the set'),
    },
    'After a promotion: how much this cluster had of its former primary; missing if nothing, or if not known',
  ),
  fenced: flag('Another cluster took over as primary, so this one writes nothing'),
  known_secondaries: listOf(text('Id'), 'All to which a token was given that was not revoked since'),
  synchronous: listOf(
    group(
      {
        id: text('Id of the secondary'),
        state: text(
          'in-step: it has every write that was answered; waiting: writes wait for it; away: writes go on without ' +
            'it; unknown: it was never let in, and nothing waits for it',
        ),
        since: optional(text('Time since which it has this state, RFC 3339; missing for one that is unknown')),
      },
      'A secondary that writes wait for',
    ),
    'For disaster recovery: the secondaries that writes wait for; missing if there are none',
  ),
  may_have_taken_over: listOf(
    text('Id of the secondary'),
    'Those that this cluster handed over to, or is about to, and has heard nothing of since. Until they follow it ' +
      'again, or are revoked, keys encrypt what was granted before; missing if there are none',
  ),
  secondaries: listOf(
    group({ ...PEER, node_id: text('Id of the secondary') }, 'A secondary'),
    'All that were let in, connected or not; those without a link since this server started have no heartbeat',
  ),
  paths_filters: listOf(
    group(
      {
        id: text('Id of the secondary'),
        mode: text('allow: it gets nothing but the paths; deny: all but them'),
        paths: integer('How many paths there are'),
      },
      'A filter',
    ),
    'For performance: the filters of secondaries; missing if there are none',
  ),
  last_wal: integer('Index of the last change'),
  last_dr_wal: integer('For disaster recovery: index of the last change that its secondaries get'),
  last_performance_wal: integer('For performance: index of the last change that its secondaries get'),
}

const OF_SECONDARY = {
  connection_state: text('State of the link to the primary: ready, connecting, idle or transient_failure'),
  secondary_id: text('The id that its token was made for'),
  filtered: flag('For performance: a filter of the primary keeps something from this cluster; missing if none does'),
  known_primary_cluster_addrs: listOf(text('Address'), 'Cluster addresses of the nodes of the primary'),
  primaries: listOf(group(PEER, 'A node of the primary'), 'Nodes of the primary that there has been a link to'),
  last_start: text('Since when it follows, RFC 3339'),
  last_remote_wal: integer('Index of the last change of its primary that was applied, or 0'),
  merkle_sync_progress: group(
    {
      sync_progress: integer('Entries that came'),
      sync_total_keys: integer('Entries in all; 0 if that is not known'),
    },
    'How far a copy or a comparison is, while there is one',
  ),
  lag_ms: text('How far behind the primary this cluster is, in milliseconds; missing if not known'),
  lag_entries: integer('Changes of the primary that are not applied yet; missing if not known'),
  server_version: text(
    'Version of the server of the primary; missing if not known, or the listener withholds versions',
  ),
}

const OF_BOTH = {
  cluster_id: text('Id of the set: the same on the primary and its secondaries'),
  state: text('Primary: running or idle. Secondary: stream-wals, merkle-diff, merkle-sync or idle'),
  idle_reason: text('Why the state is idle, in a word; missing if there is nothing to say'),
  idle_sentence: text('The same for people, with what to do; missing also if the listener withholds addresses'),
  primary_cluster_addr: text(
    'Primary: what primary/enable was given. Secondary: the first address that it had of the primary',
  ),
  program_version: text(
    'Version of this program, by which clusters judge whether one can follow another; missing if the listener ' +
      'withholds versions',
  ),
  epoch: integer('Number of the history of this cluster; a promotion and a restore raise it'),
  history_id: text('Id of the history, in hexadecimal'),
  merkle_root: text(
    'SHA-256 over what the family shares, in hexadecimal; missing while it is being read after an unseal',
  ),
  corrupted_merkle_tree: flag('A check of the tree found it wrong'),
  last_corruption_check_epoch: text('Time of that check, Unix time in seconds; negative: there was none'),
  last_reindex_epoch: text('When the tree was last made anew, Unix time in seconds; 0: never'),
  reindex_in_progress: flag('True while the tree is made anew; missing otherwise, as the next three'),
  reindex_stage: text('building or flushing'),
  reindex_building_progress: integer('Entries that were looked at'),
  reindex_building_total: integer('Entries in all'),
  ssct_generation_counter: integer('Grows with each promotion for disaster recovery'),
  conflicting_local_mounts: listOf(
    text('Path'),
    'For performance: local mounts of this cluster at whose path the set has a mount or a namespace, or around or ' +
      'within it; missing if there are none, or the listener withholds addresses',
  ),
  undone_records: integer(
    'Records of this cluster that its new primary did not have, and that are kept aside; missing if there are none',
  ),
  retained_wal_from: integer('Index of the oldest change in the log; one more than the last if it is empty'),
  retained_wal_bytes: integer('Bytes of the log, about'),
  retained_for: listOf(group(HOLD, 'One who needs the log'), 'For whom the log is retained'),
}

const allOptional = (shapes: Shapes): Shapes =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, optional(shape)]))

/** A family that is disabled shows its mode alone; one that is bootstrapping lacks what the log and the tree tell. */
const STATUS = {
  mode: text('disabled, bootstrapping, primary or secondary'),
  ...allOptional({ ...OF_BOTH, ...OF_PRIMARY, ...OF_SECONDARY }),
}

async function statusOf(system: StatusSystem, family: ReplicationFamily, { listener }: RequestInfo): Promise<object> {
  const mode = shownState(system.nodeRole(), family)
  if (mode === 'disabled') return { mode }
  const members = await system.services.replication.of(family, mode, listener?.redacts)
  // Whoever has no token is told where mounts are in no other way.
  const isShown = family === 'performance' && listener?.redacts.addresses !== true
  const conflicting = isShown ? system.mounts.conflicting() : []
  return { mode, ...members, ...(conflicting.length > 0 && { conflicting_local_mounts: conflicting }) }
}

const common = {
  operation: 'read',
  capability: 'none',
  onDrSecondary: 'open',
  runsOn: 'any-node',
  offeredIn: 'root',
  fields: {},
} as const

const both = endpoint({
  ...common,
  id: 'replication-status',
  path: 'replication/status',
  summary: 'Shows what this cluster is in both families of replication',
  response: { dr: group(STATUS, 'Disaster recovery'), performance: group(STATUS, 'Performance') },
  handler: async (system: StatusSystem, _args, request) => {
    requireStatusShown(request)
    return {
      data: {
        dr: await statusOf(system, 'dr', request),
        performance: await statusOf(system, 'performance', request),
      },
    }
  },
})

const one = (family: ReplicationFamily, what: string): Endpoint<StatusSystem> =>
  endpoint({
    ...common,
    id: `replication-${family}-status`,
    path: `replication/${family}/status`,
    summary: `Shows what this cluster is in the family for ${what}`,
    response: STATUS,
    handler: async (system: StatusSystem, _args, request) => {
      requireStatusShown(request)
      return { data: await statusOf(system, family, request) }
    },
  })

/** The status of replication, whole and by family. */
export const REPLICATION_STATUS_ENDPOINTS: readonly Endpoint<StatusSystem>[] = [
  both,
  one('dr', 'disaster recovery'),
  one('performance', 'performance'),
]
