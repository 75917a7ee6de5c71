// What a server hands in so that it can replicate.
import type { LinkAddress } from '../../lib/links.ts'
import type { LinkControl } from '../../replication/link/link-sides.ts'
import type { SynchronousSettings } from '../../replication/synchronous/settings.ts'
import type { PrimaryApi } from './primary-api.ts'

/** What a server with replication hands in. */
export type ReplicationParts = {
  /** The links; the thread that has them is told the owner in return (`WritingNode.linkOwner`). */
  readonly control: LinkControl
  readonly primaryApi: PrimaryApi
  /** Where the cluster port is opened. */
  readonly listenAt: readonly LinkAddress[]
  /** What others are told of it, given the port that was opened; '' if that is not known. */
  readonly clusterAddress: (port: number | undefined) => string
  /** The secondaries that writes wait for; missing: none. */
  readonly synchronous?: SynchronousSettings
}
