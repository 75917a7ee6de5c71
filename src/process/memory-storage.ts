// The store of a server in memory.
import type { LeaveOnly } from '../assembly/emptied-store.ts'
import type { World } from '../lib/world.ts'
import type { StoreOptions } from '../storage/commit/transactional-store.ts'
import type { Store } from '../storage/contract.ts'
import { type StorageConfig, storeLocation } from '../storage/drivers.ts'
import { ReplaceableStore } from '../storage/replaceable-store.ts'
import { leavingStore } from './restorable-store.ts'

/** Opens it. Restores are not offered, but it can be emptied. */
export async function openMemoryStore(
  storage: StorageConfig,
  { random, clock, ticks }: World,
  told: Pick<StoreOptions, 'onCommitted'> = {},
): Promise<{ readonly store: ReplaceableStore; readonly leaveOnly: LeaveOnly }> {
  const location = storeLocation(storage)
  const open = (): Promise<Store> => location.open({ random, clock, ticks, ...told })
  const store = new ReplaceableStore(await open())
  return { store, leaveOnly: leavingStore(location, store, open) }
}
