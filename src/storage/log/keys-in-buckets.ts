// From buckets of the tree back to the keys in them: two stores that found where they differ then compare these.
import type { KeyObject } from 'node:crypto'
import type { Ticks } from '../../lib/world.ts'
import type { BucketKeys, BucketRow, EntryHead, KeyLeaf, Snapshot, TreeBucket, TreeClass } from '../contract.ts'
import { compareKeys } from '../key-order.ts'
import { bucketOf, type Tree, treeScopeOf } from './tree.ts'

/** Keys looked at in one tick. */
const KEYS_PER_STEP = 1_000
const BUCKETS_PER_PAGE = 256

/** A tree of one moment, and what leads from its buckets to keys beside the rows that are stored. */
export type TreeImage = {
  readonly tree: Tree
  readonly bucketKey: KeyObject
  /** Keys without a row, with their buckets. */
  readonly recent: ReadonlyMap<string, number>
  /** Told of a key whose row was missing. */
  readonly missed: (row: BucketRow) => void
  /** Others have ticks between the steps of looking. */
  readonly ticks: Ticks
}

/**
 * Keys and leaves of the entries of a view that are in these buckets, in key order. What the stored rows lead to must
 * make the digests of the tree. If it does not, rows are missing: all keys are then looked at, and missing rows made.
 */
export async function keysIn(snapshot: Snapshot, image: TreeImage, buckets: readonly TreeBucket[]): Promise<KeyLeaf[]> {
  const wanted = new Wanted(image, buckets)
  const found = await keysByRows(snapshot, wanted, image)
  if (wanted.areWhole(found)) return found
  const known = new Set(found.map(({ key }) => key))
  const all = await keysByLeaves(snapshot, wanted, image.ticks)
  for (const { key } of all) if (!known.has(key)) image.missed({ key, bucket: bucketOf(image.bucketKey, key) })
  return all
}

/** The wanted buckets, and what is in them by the tree. */
class Wanted {
  readonly numbers: ReadonlySet<number>
  readonly #digests: ReadonlyMap<string, Buffer>
  readonly #bucketKey: KeyObject

  constructor({ tree, bucketKey }: TreeImage, buckets: readonly TreeBucket[]) {
    this.#bucketKey = bucketKey
    this.numbers = new Set(buckets.map(({ page, place }) => page * BUCKETS_PER_PAGE + place))
    this.#digests = new Map(
      buckets.map((bucket) => {
        const number = bucket.page * BUCKETS_PER_PAGE + bucket.place
        return [nameOf(bucket.class, bucket.scope, number), tree.digest(bucket)]
      }),
    )
  }

  holds(entry: KeyLeaf): boolean {
    const bucket = bucketOf(this.#bucketKey, entry.key)
    return this.numbers.has(bucket) && this.#digests.has(nameOf(entry.class, treeScopeOf(entry.key), bucket))
  }

  /** True if these are all the entries in the buckets. */
  areWhole(entries: readonly KeyLeaf[]): boolean {
    const missing = new Map([...this.#digests].map(([name, digest]) => [name, Buffer.from(digest)]))
    for (const { class: of, key, leaf } of entries) {
      const digest = missing.get(nameOf(of, treeScopeOf(key), bucketOf(this.#bucketKey, key)))
      for (const [at, byte] of leaf.entries()) digest?.writeUInt8(digest.readUInt8(at) ^ byte, at)
    }
    return [...missing.values()].every((digest) => digest.every((byte) => byte === 0))
  }
}

const nameOf = (of: TreeClass, scope: string, bucket: number): string => `${of} ${scope} ${bucket}`

/** The entries that the stored rows lead to, and those without a row. */
async function keysByRows(snapshot: Snapshot, wanted: Wanted, { recent, ticks }: TreeImage): Promise<KeyLeaf[]> {
  const numbers = [...wanted.numbers]
  const keys = new Set([...recent].filter(([, bucket]) => wanted.numbers.has(bucket)).map(([key]) => key))
  for (let after: number | undefined = numbers.length === 0 ? undefined : 0; after !== undefined; await ticks.next()) {
    const part: BucketKeys = await snapshot.bucketKeys(numbers, after)
    for (const key of part.keys) keys.add(key)
    after = part.next
  }
  const sorted = [...keys].sort(compareKeys)
  const found: KeyLeaf[] = []
  for (let at = 0; at < sorted.length; at += KEYS_PER_STEP) {
    const some = sorted.slice(at, at + KEYS_PER_STEP)
    const heads = await snapshot.heads(some)
    for (const [index, head] of heads.entries()) {
      const entry = entryOf(some[index], head)
      if (entry !== undefined && wanted.holds(entry)) found.push(entry)
    }
    await ticks.next()
  }
  return found
}

function entryOf(key: string | undefined, head: EntryHead | undefined): KeyLeaf | undefined {
  if (key === undefined || head === undefined || head.class === 'ignored') return undefined
  return { key, class: head.class, leaf: head.leaf }
}

/** The entries among all of the view. */
async function keysByLeaves(snapshot: Snapshot, wanted: Wanted, ticks: Ticks): Promise<KeyLeaf[]> {
  const found: KeyLeaf[] = []
  for (let after = ''; ; await ticks.next()) {
    const leaves = await snapshot.leaves(after, KEYS_PER_STEP)
    found.push(...leaves.filter((entry) => wanted.holds(entry)))
    after = leaves.at(-1)?.key ?? ''
    if (leaves.length < KEYS_PER_STEP) return found
  }
}
