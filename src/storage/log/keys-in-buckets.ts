// From buckets of the tree back to the keys in them: two stores that found where they differ then compare these.
import type { KeyObject } from 'node:crypto'
import { setImmediate as nextLoop } from 'node:timers/promises'
import type { KeyLeaf, Snapshot, TreeBucket } from '../contract.ts'
import { bucketOf, treeScopeOf } from './tree.ts'

/** Keys looked at in one step of the event loop. */
const KEYS_PER_STEP = 1_000

/** Keys and leaves of the entries of a view that are in these buckets, in key order. It goes through all keys. */
export async function keysIn(
  snapshot: Snapshot,
  bucketKey: KeyObject,
  buckets: readonly TreeBucket[],
): Promise<KeyLeaf[]> {
  const wanted = new Set(buckets.map(({ class: each, scope, page, place }) => nameOf(each, scope, page * 256 + place)))
  const numbers = new Set(buckets.map(({ page, place }) => page * 256 + place))
  const found: KeyLeaf[] = []
  for (let after = ''; numbers.size > 0; await nextLoop()) {
    const leaves = await snapshot.leaves(after, KEYS_PER_STEP)
    for (const entry of leaves) {
      const bucket = bucketOf(bucketKey, entry.key)
      if (numbers.has(bucket) && wanted.has(nameOf(entry.class, treeScopeOf(entry.key), bucket))) found.push(entry)
    }
    after = leaves.at(-1)?.key ?? ''
    if (leaves.length < KEYS_PER_STEP) break
  }
  return found
}

function nameOf(storageClass: string, scope: string, bucket: number): string {
  return `${storageClass} ${scope} ${bucket}`
}
