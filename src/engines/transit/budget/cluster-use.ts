// What a cluster has used of the messages that the ledger grants it (message-ledger.ts). It is local to the cluster:
//
//   cluster/lives     JSON, {"format":1,"lives":N,"cluster":C}: lives of the cluster, and its name in the ledger. A
//                     thread that seals with the keys of the mount is one life, and another one after the next start.
//                     "promotion":P until the first life after a promotion, which is counted once so
//   cluster/use/ID    JSON, {"format":1,"granted":N,"cluster":C}: messages that threads were given to seal. Under
//                     another name it counts nothing: what that cluster was granted counts as sealed in the ledger
//
// The name is drawn with the first life, and again where the cluster does not know what was used under its name: then
// no block is used twice.
import { freshBytes } from '../../../crypto/primitives/random-bytes.ts'
import { count, optional, text } from '../../../lib/member-kinds.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'
import { storedRecord } from '../../../storage/stored-record.ts'
import { type MountStanding, readClusters, readOldLives } from './message-ledger.ts'

/** The path of the lives and the name of the cluster. */
export const CLUSTER_LIVES = 'cluster/lives'
/** The folder of what the cluster used, by the identities of versions. */
export const CLUSTER_USE_FOLDER = 'cluster/use/'

/** 96 bits: two clusters never draw the same name. */
const NAME_BYTES = 12

/** The stored form of the lives of a cluster. */
export const CLUSTER_LIVES_COUNT = storedRecord('The count of lives of a cluster', {
  lives: count,
  cluster: text,
  /** The promotion that the name was drawn at, until the first life after it. */
  promotion: optional(text),
})
/** The stored form of what a cluster used of a version. */
export const CLUSTER_USE = storedRecord('The use of a key version by a cluster', { granted: count, cluster: text })

/** Lives of this cluster, and its name; '' before its first life. */
export type ClusterLives = { readonly lives: number; readonly cluster: string; readonly promotion?: string }

const NO_LIVES: ClusterLives = { lives: 0, cluster: '' }

/** Draws a name. */
export function newClusterName(random: (bytes: number) => Buffer): string {
  return freshBytes(random, NAME_BYTES).toString('base64url')
}

type Gets = Pick<View | ViewTransaction, 'get'>

/** Returns the lives of this cluster. @throws StorageCorrupt */
export async function readClusterLives(storage: Gets): Promise<ClusterLives> {
  const bytes = await storage.get(CLUSTER_LIVES)
  return bytes === undefined ? NO_LIVES : CLUSTER_LIVES_COUNT.decode(bytes)
}

/** Returns the messages of a version that threads of this cluster were given. @throws StorageCorrupt */
export async function readUsed(storage: Gets, identity: string, cluster: string): Promise<number> {
  const bytes = await storage.get(CLUSTER_USE_FOLDER + identity)
  const use = bytes && CLUSTER_USE.decode(bytes)
  return use?.cluster === cluster ? use.granted : 0
}

/** Stores the messages of a version that threads of this cluster were given. */
export function putUsed(tx: ViewTransaction, identity: string, cluster: string, granted: number): void {
  tx.put(CLUSTER_USE_FOLDER + identity, CLUSTER_USE.encode({ granted, cluster }))
}

/** Returns what the mount knows of its clusters and of this one. @throws StorageCorrupt */
export async function readMountStanding(storage: Gets): Promise<MountStanding> {
  const [clusters, oldLives, lives] = await Promise.all([
    readClusters(storage),
    readOldLives(storage),
    readClusterLives(storage),
  ])
  return { clusters, oldLives, ...lives }
}
