// The store as all other rooms have it: in clear, with an invalidation to every cache when something changes.
import type { ByteStream } from '../api/request.ts'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import type { World } from '../lib/world.ts'
import { Barrier } from '../storage/barrier.ts'
import type { ReadStore, Store } from '../storage/contract.ts'
import { Invalidation } from '../storage/invalidation.ts'
import { bucketKeyOf } from '../storage/log/tree.ts'
import type { History } from '../storage/peer-log.ts'
import { SealedStorage } from '../storage/sealed-storage.ts'
import { writeSnapshot } from '../storage/snapshot/snapshot-stream.ts'
import type { SealStatus } from '../system/seal/seal.ts'

/** Storage of this thread, and what is read from the store as a whole. */
export type StorageRoom = {
  readonly storage: SealedStorage
  /** The store itself, on the thread that writes it. */
  readonly writes: Store | undefined
  readonly invalidation: Invalidation
  /** Returns the store at the time of the call as a stream. */
  readonly saveSnapshot: () => Promise<ByteStream>
  /** The histories of the store: a restore and a promotion each begin one. */
  readonly histories: () => Promise<readonly History[]>
}

/** The entry with the key of the tree's leaves. */
const LEAF_KEY = 'root/core/leaf-key'

/**
 * Builds the storage with its barrier sealed. `writes` is the same store where this thread may write it, else
 * undefined.
 */
export function buildStorage(
  { store, world }: { readonly store: ReadStore; readonly world: World },
  sealStatus: () => SealStatus,
  writes: Store | undefined,
): StorageRoom {
  const barrier = new Barrier(world.random)
  return {
    storage: new SealedStorage(store, barrier, writes),
    writes,
    invalidation: new Invalidation(),
    saveSnapshot: async () => {
      const leafKey = barrier.open(LEAF_KEY, (await store.get(LEAF_KEY)) ?? Buffer.alloc(0))
      const bucketKey = bucketKeyOf(importSecret(leafKey))
      leafKey.fill(0)
      const clusterId = sealStatus().cluster?.id ?? ''
      const open = () => store.snapshot()
      const nowMs = world.clock.nowMs()
      return ReadableStream.from(writeSnapshot({ open, barrier, bucketKey, clusterId, nowMs, ticks: world.ticks }))
    },
    histories: () => store.histories(),
  }
}

/** On the writing thread: its caches forget what it commits itself. Other threads follow the log. */
export function forgetCommits(store: Store, invalidation: Invalidation): void {
  store.onCommit((change) => {
    for (const { key } of change.operations) invalidation.changed(key)
  })
}
