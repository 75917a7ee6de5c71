// Who may encrypt how often under one data key: pure rules. A data key may encrypt 2^32 times in the whole set, so the
// primary grants blocks to the others and counts a block as used once it is granted. The sum of its own use and of all
// grants stays below the limit by construction: no cluster has to report, and a lost answer costs only its block.
//
// Nothing grants as yet: every ledger has no grants, and each cluster counts for itself. A secondary for disaster
// recovery seals only what is its own. `newTermUse`, `granted`, `isAskDue` and `withGrant` are the floor of that
// protocol, and are called by tests alone.
import { MAX_ENCRYPTIONS, MOST_MAX_OPERATIONS } from '../../storage/keyring-limits.ts'
import { type DataKeyUse, MAX_CLUSTER_ID_BYTES } from './key-use.ts'

/** Most clusters that a primary grants to. Their first shares together are a quarter of what a key may encrypt. */
export const MOST_GRANTED_CLUSTERS = 256

/** What each registered cluster may encrypt under a new term before it asks; the set may do `most` under a term. */
export const firstShareOf = (most: number): number => Math.floor(most / (4 * MOST_GRANTED_CLUSTERS))

/** What a cluster gets each time that it asks. */
export const blockOf = (most: number): number => Math.floor(most / MOST_GRANTED_CLUSTERS)

/** What a cluster may encrypt under `term`: from the count `from`, which it had before, up to `to`. */
export type Grant = { readonly term: number; readonly from: number; readonly to: number }

/** The use of a new term: nothing but the first share of each registered cluster. @throws RangeError for too many */
export function newTermUse(term: number, clusters: readonly string[], most: number): DataKeyUse {
  const grants = new Map(clusters.map((id) => [id, firstShareOf(most)]))
  if (grants.size > MOST_GRANTED_CLUSTERS)
    throw new RangeError(`At most ${MOST_GRANTED_CLUSTERS} clusters share a data key`)
  for (const id of grants.keys()) {
    if (Buffer.byteLength(id) > MAX_CLUSTER_ID_BYTES) throw new RangeError('The id of a cluster is too long')
  }
  return { term, encryptions: 0, grants }
}

/** What all clusters together did or may do under the term; `own` is the exact count of this one. */
export function usedInSet({ grants }: DataKeyUse, own: number): number {
  return [...grants.values()].reduce((sum, granted) => sum + granted, own)
}

/** How often the cluster that keeps the ledger may encrypt by itself. */
export function mostOwn(use: DataKeyUse): number {
  return MAX_ENCRYPTIONS - usedInSet(use, 0)
}

/**
 * The next block of a cluster, and the use with it, to be stored before the cluster hears of it. Undefined for one that
 * is not in the ledger, or if the key has no room left: then a new term is due. `own` is the exact count of this
 * cluster.
 */
export function granted(
  use: DataKeyUse,
  cluster: string,
  { own, most }: { readonly own: number; readonly most: number },
): { readonly use: DataKeyUse; readonly grant: Grant } | undefined {
  const from = use.grants.get(cluster)
  if (from === undefined) return undefined
  const block = blockOf(most)
  // The stored bound may be far above the count; against the limit of the cipher it is what counts.
  const isTooMuch =
    usedInSet(use, own) + block > most || usedInSet(use, Math.max(own, use.encryptions)) + block > MOST_MAX_OPERATIONS
  if (isTooMuch) return undefined
  const to = from + block
  return { use: { ...use, grants: new Map([...use.grants, [cluster, to]]) }, grant: { term: use.term, from, to } }
}

/** What a secondary knows of its share: it seals while its count is below `to`. */
export type Share = Grant

/** True if half of the last block is gone, and the next one is to be asked for. */
export const isAskDue = ({ from, to }: Share, count: number): boolean => count >= from + Math.ceil((to - from) / 2)

/** The share after an answer of the primary. An answer for another term, or an older one, changes nothing. */
export function withGrant(share: Share, grant: Grant): Share {
  return grant.term !== share.term || grant.to <= share.to ? share : grant
}
