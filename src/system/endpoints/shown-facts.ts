// What endpoints that need no token say of the server: as much as the listener lets them.
import type { RequestInfo } from '../../api/request.ts'
import type { Cluster } from '../seal/seal-records.ts'
import type { System as Whole } from '../system.ts'

/** What it takes of the system. */
type System = Pick<Whole, 'facts'>

export const versionShown = (system: System, { listener }: Pick<RequestInfo, 'listener'>): string =>
  listener?.redacts.version === true ? '' : system.facts.reportedVersion

/** Nothing while there is none: the server is sealed. */
export function clusterShown(
  cluster: Cluster | undefined,
  { listener }: Pick<RequestInfo, 'listener'>,
): { readonly cluster_name?: string; readonly cluster_id?: string } {
  if (cluster === undefined) return {}
  return { cluster_name: listener?.redacts.clusterName === true ? '' : cluster.name, cluster_id: cluster.id }
}
