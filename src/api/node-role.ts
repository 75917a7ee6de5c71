// The role of this node among others, and what it may do by itself in that role.

/**
 * What a cluster is in one family of replication. `bootstrapping`: it was made a secondary, and its copy of what the
 * primary has is not whole yet.
 */
export type FamilyState = 'disabled' | 'bootstrapping' | 'primary' | 'secondary'

/** The role of a node; it may change while the node runs. */
export type NodeRole = {
  /** True if another node of the same cluster is active. */
  readonly isStandby: boolean
  /** The family for disaster recovery: a secondary follows its primary and serves no client. */
  readonly dr: FamilyState
  /** A secondary of this family serves clients, and follows its primary in what the whole set shares. */
  readonly performance: FamilyState
  /** True for a former primary that another cluster took over from: whatever it changed would be lost. */
  readonly isFenced: boolean
  /** True for a primary that waits for a secondary of it to be promoted. */
  readonly isHandingOver?: boolean
}

/** A single node, or the active node of a cluster that follows no other. */
export const ACTIVE_PRIMARY: NodeRole = { isStandby: false, dr: 'disabled', performance: 'disabled', isFenced: false }

/** The role of a node, and where its primary answers: '' if it has none, or that is not known. */
export type RoleState = { readonly role: NodeRole; readonly primaryAddress: string }
/** The state of a node that follows no other. */
export const FOLLOWS_NONE: RoleState = { role: ACTIVE_PRIMARY, primaryAddress: '' }

/** The owner of stored data: all clusters of a set, one cluster, or one node. */
export type DataOwner = 'set' | 'cluster' | 'node'

/**
 * What of this cluster a request sees. 'shared': another cluster of the set handed it over, so that what is local to
 * this one is not there for it, and hides nothing.
 */
export type Sight = 'all' | 'shared'

/** Who owns what is stored in a class (src/storage/classes.ts). This room does not import storage. */
export const OWNER_OF_CLASS = {
  replicated: 'set',
  local: 'cluster',
  ignored: 'node',
} as const satisfies Readonly<Record<string, DataOwner>>

/**
 * True if this node may change data of this owner. A performance secondary may change what is its own, also while it is
 * copied; shared data is changed by its primary alone.
 */
export function mayChange(role: NodeRole, owner: DataOwner): boolean {
  const { isStandby, dr, performance, isFenced, isHandingOver = false } = role
  if (owner === 'node') return true
  if (isStandby || isFenced || isHandingOver || dr === 'secondary') return false
  if (dr === 'bootstrapping') return false
  return owner === 'cluster' || (performance !== 'secondary' && performance !== 'bootstrapping')
}

/**
 * True if this node serves clients. A secondary for disaster recovery, whole or not, serves none until it takes the
 * place of its primary.
 */
export const servesClients = ({ dr }: NodeRole): boolean => dr !== 'secondary' && dr !== 'bootstrapping'

/**
 * What others are told of the role in a family. A secondary for disaster recovery is no part of the performance family:
 * what it keeps of that is what its primary is.
 */
export const shownState = (role: NodeRole, family: 'dr' | 'performance'): FamilyState =>
  family === 'performance' && !servesClients(role) ? 'disabled' : role[family]

/** True while a performance secondary has a part of the shared data only: it answers those who operate it. */
export const isCopied = ({ performance }: NodeRole): boolean => performance === 'bootstrapping'

/** True if this node maintains the data of a mount, for example rotates its keys. */
export function maintains(role: NodeRole, mount: { readonly local: boolean }): boolean {
  return mayChange(role, mount.local ? 'cluster' : 'set')
}
