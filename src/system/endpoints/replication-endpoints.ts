// sys/replication: what this node is in both families of replication (Interface 4.4, 4.5). Anyone may ask, as other
// clusters, load balancers and monitors do without a token.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import type { FamilyState } from '../../api/node-role.ts'
import { group, text } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'nodeRole'>

type Family = 'dr' | 'performance'

const STATUS = { mode: text('disabled, bootstrapping, primary or secondary') }

/** A secondary for disaster recovery is no part of the performance family, even if its primary is. */
function statusOf(system: System, family: Family): { readonly mode: FamilyState } {
  const role = system.nodeRole()
  return { mode: family === 'performance' && role.dr === 'secondary' ? 'disabled' : role[family] }
}

const common = { operation: 'read', capability: 'none', onDrSecondary: 'open', runsOn: 'any-node', fields: {} } as const

const both = endpoint({
  ...common,
  id: 'replication-status',
  path: 'replication/status',
  summary: 'Shows what this cluster is in both families of replication',
  response: { dr: group(STATUS, 'Disaster recovery'), performance: group(STATUS, 'Performance') },
  handler: (system: System) => ({
    data: { dr: statusOf(system, 'dr'), performance: statusOf(system, 'performance') },
  }),
})

const one = (family: Family, what: string): Endpoint<System> =>
  endpoint({
    ...common,
    id: `replication-${family}-status`,
    path: `replication/${family}/status`,
    summary: `Shows what this cluster is in the family for ${what}`,
    response: STATUS,
    handler: (system: System) => ({ data: statusOf(system, family) }),
  })

/** The status of replication, whole and by family. */
export const REPLICATION_ENDPOINTS: readonly Endpoint<System>[] = [
  both,
  one('dr', 'disaster recovery'),
  one('performance', 'performance'),
]
