// The ledger of a mount: which clusters may seal how many messages with each key version. All clusters of the set have
// it, and its owner alone writes it: the primary, or for a local mount the cluster itself.
//
//   clusters    JSON, {"format":1,"clusters":[C,...],"gone":G,"of":{"C":S}}: names of the clusters that seal with the
//               keys of the mount, oldest first, and blocks that count besides, of clusters that are gone or that a
//               promotion does not know of. S: the id of the secondary that had the cluster named
//   use/ID      JSON, {"format":1,"granted":N,"clusters":{"C":{"granted":N,"number":K}},"seen":S}: messages that were
//               granted for a version over the set, and to each cluster, whose last block has the number K. ID follows
//               from a secret of the version (counted-version.ts), so that it has one count whatever name it is
//               restored as. Without "clusters" N was given to threads, before there was a ledger: all of it counts as
//               sealed. S: of N, what all clusters that may be promoted were known to have received at the last grant
//   lives       JSON, {"format":1,"lives":N}: threads that there were before there was a ledger; never written again
//
// Each cluster has one block of each version that is written down nowhere: so a key that is used little costs no write,
// and keys of the primary can be used at once elsewhere. Such blocks count for a version whether they are used or not:
// those of the clusters that are named, and those that were gone since the version was made (`aheadFrom` of its
// header). If they do not fit beside what was granted, no cluster has its own. What counts only grows: so they fit up
// to some moment and never again, and a cluster that reads an old ledger sees what was right then.
import { count, group, integer, mapOf, optional, text, texts } from '../../../lib/member-kinds.ts'
import { own } from '../../../lib/own.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'
import { storedRecord } from '../../../storage/stored-record.ts'
import type { MessageLimits } from './message-limits.ts'

/** The folder of the ledger's entries, by the identities of versions. */
export const USE_FOLDER = 'use/'
/** The path of the names of clusters. */
export const CLUSTERS = 'clusters'
/** The path of the lives of format 1. */
export const OLD_LIVES = 'lives'

/** What was granted for a key version, over the set and to each cluster. */
export const MESSAGE_COUNT = storedRecord('The count of messages of a key version', {
  granted: count,
  clusters: optional(mapOf(group({ granted: count, number: count }, 'dropped'))),
  seen: optional(count),
})
/** The clusters that seal with the keys of a mount. */
export const CLUSTERS_RECORD = storedRecord('The clusters that use the keys of a mount', {
  clusters: texts,
  gone: count,
  of: optional(mapOf(text)),
})
/** The stored form of the lives of format 1. */
export const LIVES_COUNT = storedRecord('The count of lives of a mount', { lives: integer() })

/** What was granted to one cluster besides its first block, and the number of the last block. */
type Share = { readonly granted: number; readonly number: number }
/** The entry of one version. */
export type Ledger = {
  readonly granted: number
  readonly clusters?: Readonly<Record<string, Share>>
  readonly seen?: number
}
/** The clusters of a mount. */
export type Clusters = {
  readonly clusters: readonly string[]
  readonly gone: number
  readonly of?: Readonly<Record<string, string>>
}

/** What the header of a version says of its count. */
export type CountedSince = {
  /** Lives before the version was made: of the cluster that is named, or without a name those of format 1. */
  readonly countedFrom?: number
  /** The cluster that made it; '' if that had no lives yet. Missing: made without a ledger, or in a new mount. */
  readonly countedBy?: string
  /** Blocks of clusters that were gone when it was made. */
  readonly aheadFrom?: number
}

/** What a mount knows of its clusters and of this one. */
export type MountStanding = {
  readonly clusters: Clusters
  readonly oldLives: number
  /** Lives of this cluster. */
  readonly lives: number
  /** The name of this cluster; '' before its first life. */
  readonly cluster: string
}

/** What a version may have sealed and may seal, as this cluster knows it. */
export type Standing = {
  /** Messages that all clusters together have been granted, ahead of need included. */
  readonly reserved: number
  /** Messages that this cluster has been granted. */
  readonly granted: number
  /** True if this cluster has its first block, from which threads take without asking. */
  readonly hasFirst: boolean
  /** The number of the last block that was granted to this cluster. */
  readonly number: number
  /** Lives of this cluster before the version was made. */
  readonly from: number
}

const NO_SHARE: Share = { granted: 0, number: 0 }

/** Returns what the ledger says of a version. */
export function standingOf(
  limits: MessageLimits,
  { clusters: { clusters, gone }, oldLives, cluster }: MountStanding,
  { countedFrom = 0, countedBy, aheadFrom = 0 }: CountedSince,
  { granted: all, clusters: shares = {} }: Ledger,
): Standing {
  const before = countedBy === undefined ? limits.free * Math.max(0, oldLives - countedFrom) : 0
  const ahead = limits.block * Math.max(0, clusters.length + gone - aheadFrom)
  const reserved = all + before + ahead
  const hasFirst = reserved <= limits.most && clusters.includes(cluster)
  const share = own(shares, cluster) ?? NO_SHARE
  const granted = share.granted + (hasFirst ? limits.block : 0)
  const from = countedBy !== undefined && countedBy === cluster ? countedFrom : 0
  return { reserved, granted, hasFirst, number: share.number, from }
}

/** Returns what threads of this cluster can have sealed of a version without asking, with so many lives. */
export function sealedFree(limits: MessageLimits, { hasFirst, from }: Standing, lives: number): number {
  return hasFirst ? Math.min(limits.freeShare, limits.free * Math.max(0, lives - from)) : 0
}

/** True if a thread that is this life may seal its free messages. */
export function mayTakeFree(
  limits: MessageLimits,
  { hasFirst, from }: Pick<Standing, 'hasFirst' | 'from'>,
  life: number,
): boolean {
  return hasFirst && limits.free * (life - from) <= limits.freeShare
}

/** Returns what is left of the blocks of this cluster, where threads were given `used` messages. */
export function leftOf(limits: MessageLimits, { granted, hasFirst }: Standing, used: number): number {
  return granted - (hasFirst ? limits.freeShare : 0) - used
}

/** True if half of the newest block is gone: it is time for the next one. */
export function isLow(limits: MessageLimits, standing: Standing, used: number): boolean {
  const newest = standing.number === 0 ? limits.block - limits.freeShare : limits.block
  return leftOf(limits, standing, used) < newest / 2
}

/** Returns the most messages that a version can have sealed, over the set. */
export function sealedAtMost(limits: MessageLimits, standing: Standing, used: number, lives: number): number {
  const here = used + sealedFree(limits, standing, lives)
  return Math.min(limits.most, standing.reserved - standing.granted + here)
}

/**
 * Returns the entry with one block more for the cluster; undefined if none is left. `number` is that of the wanted
 * block: a question that is asked twice is granted once.
 */
export function withBlock(
  limits: MessageLimits,
  { granted, clusters = {} }: Ledger,
  { reserved }: Standing,
  { cluster, number }: { readonly cluster: string; readonly number: number },
): Ledger | undefined {
  const share = own(clusters, cluster) ?? NO_SHARE
  const room = Math.min(limits.block, limits.most - reserved)
  if (room <= 0 || number !== share.number + 1) return undefined
  const grown = { granted: share.granted + room, number }
  return { granted: granted + room, clusters: { ...clusters, [cluster]: grown } }
}

/** Returns the clusters without those that are gone: their blocks still count, but for no version made later. */
export function withoutGone({ clusters, gone, of = {} }: Clusters, isGone: (cluster: string) => boolean): Clusters {
  const left = clusters.filter((one) => !isGone(one))
  const theirs = Object.entries(of).filter(([one]) => left.includes(one))
  return {
    clusters: left,
    gone: gone + clusters.length - left.length,
    ...(theirs.length === 0 ? {} : { of: Object.fromEntries(theirs) }),
  }
}

type Gets = Pick<View | ViewTransaction, 'get'>

const NOTHING_GRANTED: Ledger = { granted: 0 }
const NO_CLUSTERS: Clusters = { clusters: [], gone: 0 }

/** Returns the entry of a version; one of nothing if none is stored. @throws StorageCorrupt */
export async function readLedger(storage: Gets, identity: string): Promise<Ledger> {
  const bytes = await storage.get(USE_FOLDER + identity)
  return bytes === undefined ? NOTHING_GRANTED : MESSAGE_COUNT.decode(bytes)
}

/** Returns the clusters of the mount; none if none is stored. @throws StorageCorrupt */
export async function readClusters(storage: Gets): Promise<Clusters> {
  const bytes = await storage.get(CLUSTERS)
  return bytes === undefined ? NO_CLUSTERS : CLUSTERS_RECORD.decode(bytes)
}

/** Returns the lives of format 1; 0 if none is stored. @throws StorageCorrupt */
export async function readOldLives(storage: Gets): Promise<number> {
  const bytes = await storage.get(OLD_LIVES)
  return bytes === undefined ? 0 : LIVES_COUNT.decode(bytes).lives
}
