// The store as all other rooms have it: in clear, and with a word to every cache when something changes.
import type { ByteStream } from '../api/request.ts'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import type { World } from '../lib/world.ts'
import { Barrier } from '../storage/barrier.ts'
import type { ReadStore, Store } from '../storage/contract.ts'
import { Invalidation } from '../storage/invalidation.ts'
import { bucketKeyOf } from '../storage/log/tree.ts'
import { SealedStorage } from '../storage/sealed-storage.ts'
import { writeSnapshot } from '../storage/snapshot/snapshot-stream.ts'
import type { SealStatus } from '../system/seal/seal.ts'

export type StorageRoom = {
  readonly storage: SealedStorage
  readonly invalidation: Invalidation
  /** The store as it is at the call, as a stream. */
  readonly saveSnapshot: () => Promise<ByteStream>
  /** Names the history of the store: another one where it was restored. */
  readonly history: () => Promise<string>
}

const LEAF_KEY = 'root/core/leaf-key'

/** `writes`: the same store, where this thread is the one that writes. */
export function buildStorage(
  { store, world }: { readonly store: ReadStore; readonly world: World },
  sealStatus: () => SealStatus,
  writes: Store | undefined,
): StorageRoom {
  const barrier = new Barrier(world.random)
  return {
    storage: new SealedStorage(store, barrier, writes),
    invalidation: new Invalidation(),
    saveSnapshot: async () => {
      const leafKey = barrier.open(LEAF_KEY, (await store.get(LEAF_KEY)) ?? Buffer.alloc(0))
      const bucketKey = bucketKeyOf(importSecret(leafKey))
      leafKey.fill(0)
      const clusterId = sealStatus().cluster?.id ?? ''
      const open = () => store.snapshot()
      return ReadableStream.from(writeSnapshot({ open, barrier, bucketKey, clusterId, nowMs: world.clock.nowMs() }))
    },
    history: async () => {
      const snapshot = await store.snapshot()
      await snapshot.close()
      return snapshot.position.historyId.toString('hex')
    },
  }
}

/** Where writes are made: caches forget what this thread commits itself. */
export function forgetCommits(store: Store, invalidation: Invalidation): void {
  store.onCommit((change) => {
    for (const { key } of change.operations) invalidation.changed(key)
  })
}
