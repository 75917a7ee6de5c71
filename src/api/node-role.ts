// What this node is among others. What it may do by itself follows from that, and from which mount it is about.

export type NodeRole = {
  /** Another node of the same cluster is active. */
  readonly isStandby: boolean
  /** Secondary of a pair for disaster recovery: it follows, and serves nobody. */
  readonly isDrSecondary: boolean
  readonly isPerformanceSecondary: boolean
}

/** One node, or the active one of a cluster that follows no other. */
export const ACTIVE_PRIMARY: NodeRole = { isStandby: false, isDrSecondary: false, isPerformanceSecondary: false }

/** Whose something stored is: that of all clusters of a set, of one cluster, or of one node. */
export type DataOwner = 'set' | 'cluster' | 'node'

/**
 * Whether this node may change what is stored without being asked. A performance secondary may where it is its own:
 * what is shared is what its primary makes of it.
 */
export function mayChange(role: NodeRole, owner: DataOwner): boolean {
  if (owner === 'node') return true
  if (role.isStandby || role.isDrSecondary) return false
  return owner === 'cluster' || !role.isPerformanceSecondary
}

/** The same of what is in a mount: rotate its keys. */
export function maintains(role: NodeRole, mount: { readonly local: boolean }): boolean {
  return mayChange(role, mount.local ? 'cluster' : 'set')
}
