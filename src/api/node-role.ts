// The role of this node among others, and what it may do by itself in that role.

/** The role of a node; it may change while the node runs. */
export type NodeRole = {
  /** True if another node of the same cluster is active. */
  readonly isStandby: boolean
  /** Secondary for disaster recovery: it follows its primary and serves no client. */
  readonly isDrSecondary: boolean
  /** Performance secondary: it serves clients, and follows its primary in what the whole set shares. */
  readonly isPerformanceSecondary: boolean
}

/** A single node, or the active node of a cluster that follows no other. */
export const ACTIVE_PRIMARY: NodeRole = { isStandby: false, isDrSecondary: false, isPerformanceSecondary: false }

/** The owner of stored data: all clusters of a set, one cluster, or one node. */
export type DataOwner = 'set' | 'cluster' | 'node'

/**
 * True if this node may change the data without being asked. A performance secondary may change what is its own; shared
 * data is changed by its primary alone.
 */
export function mayChange(role: NodeRole, owner: DataOwner): boolean {
  if (owner === 'node') return true
  if (role.isStandby || role.isDrSecondary) return false
  return owner === 'cluster' || !role.isPerformanceSecondary
}

/** True if this node maintains the data of a mount, for example rotates its keys. */
export function maintains(role: NodeRole, mount: { readonly local: boolean }): boolean {
  return mayChange(role, mount.local ? 'cluster' : 'set')
}
