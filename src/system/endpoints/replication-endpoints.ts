// sys/replication: what this node is in both families of replication (Interface 4.4, 4.5). Anyone may ask, as other
// clusters, load balancers and monitors do without a token. What is told but the mode is a second old at most.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { flag, group, integer, listOf, optional, text } from '../../api/shape.ts'
import { requireStatusShown } from '../replication-gates.ts'
import type { WithServices } from '../services.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'nodeRole'> & WithServices<'replication'>

type Family = 'dr' | 'performance'

const HOLD = {
  name: text('Who needs the records'),
  kind: text('secondary: a cluster that follows; copy: a copy that is running'),
  after: integer('The records behind this index are needed'),
  bytes: integer('Bytes of those that are there, about'),
  max_bytes: integer('Bytes of the log up to which they are retained: a setting of the storage stanza'),
  broken: flag('True if some of them are gone: the secondary or the copy has to start over'),
}

/** A family that is disabled shows its mode alone, and so does one that is bootstrapping. */
const STATUS = {
  mode: text('disabled, bootstrapping, primary or secondary'),
  epoch: optional(integer('Number of the history of this cluster; a promotion and a restore raise it')),
  history_id: optional(text('Id of the history, in hexadecimal')),
  last_wal: optional(integer('On a primary: index of the last change')),
  last_dr_wal: optional(
    integer('On a primary for disaster recovery: index of the last change that its secondaries get'),
  ),
  last_performance_wal: optional(
    integer('On a performance primary: index of the last change that its secondaries get'),
  ),
  last_remote_wal: optional(integer('On a secondary: index of the last change of its primary that was applied, or 0')),
  merkle_root: optional(
    text('SHA-256 over what the family shares, in hexadecimal; missing while it is being read after an unseal'),
  ),
  retained_wal_from: optional(integer('Index of the oldest change in the log; one more than the last if it is empty')),
  retained_wal_bytes: optional(integer('Bytes of the log, about')),
  retained_for: optional(listOf(group(HOLD, 'One who needs the log'), 'For whom the log is retained; a second old')),
}

/** A secondary for disaster recovery is no part of the performance family, even if its primary is. */
async function statusOf(system: System, family: Family): Promise<object> {
  const role = system.nodeRole()
  const mode = family === 'performance' && role.dr === 'secondary' ? 'disabled' : role[family]
  if (mode === 'disabled' || mode === 'bootstrapping') return { mode }
  return { mode, ...(await system.services.replication.of(family, mode)) }
}

const common = { operation: 'read', capability: 'none', onDrSecondary: 'open', runsOn: 'any-node', fields: {} } as const

const both = endpoint({
  ...common,
  id: 'replication-status',
  path: 'replication/status',
  summary: 'Shows what this cluster is in both families of replication',
  response: { dr: group(STATUS, 'Disaster recovery'), performance: group(STATUS, 'Performance') },
  handler: async (system: System, _args, request) => {
    requireStatusShown(request)
    return { data: { dr: await statusOf(system, 'dr'), performance: await statusOf(system, 'performance') } }
  },
})

const one = (family: Family, what: string): Endpoint<System> =>
  endpoint({
    ...common,
    id: `replication-${family}-status`,
    path: `replication/${family}/status`,
    summary: `Shows what this cluster is in the family for ${what}`,
    response: STATUS,
    handler: async (system: System, _args, request) => {
      requireStatusShown(request)
      return { data: await statusOf(system, family) }
    },
  })

/** The status of replication, whole and by family. */
export const REPLICATION_ENDPOINTS: readonly Endpoint<System>[] = [
  both,
  one('dr', 'disaster recovery'),
  one('performance', 'performance'),
]
