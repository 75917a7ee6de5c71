// Facts about the server in answers that need no token. The listener's configuration may withhold them.
import type { RequestInfo } from '../../api/request.ts'
import type { Cluster } from '../seal/seal-records.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that this endpoint uses. */
type System = Pick<Whole, 'facts'>

/** The version, or an empty text if the listener withholds it: clients expect the key. */
export const versionShown = (system: System, { listener }: Pick<RequestInfo, 'listener'>): string =>
  listener?.redacts.version === true ? '' : system.facts.reportedVersion

/** Name and id of the cluster; no keys at all while sealed, because they lie behind the barrier. */
export function clusterShown(
  cluster: Cluster | undefined,
  { listener }: Pick<RequestInfo, 'listener'>,
): { readonly cluster_name?: string; readonly cluster_id?: string } {
  if (cluster === undefined) return {}
  return { cluster_name: listener?.redacts.clusterName === true ? '' : cluster.name, cluster_id: cluster.id }
}
