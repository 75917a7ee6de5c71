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

/**
 * Whether this node may change what is in a mount without being asked: rotate its keys. A performance secondary may
 * where the mount is its own: a shared one is what its primary makes of it.
 */
export function maintains(role: NodeRole, mount: { readonly local: boolean }): boolean {
  if (role.isStandby || role.isDrSecondary) return false
  return !role.isPerformanceSecondary || mount.local
}
