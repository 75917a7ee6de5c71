// The store of a server, as a restore and an activation work on it: another takes its place.
import type { LeaveOnly } from '../assembly/emptied-store.ts'
import type { Restorable } from '../assembly/restore.ts'
import type { Store } from '../storage/contract.ts'
import type { StoreLocation } from '../storage/driver.ts'
import { durableLocation, type StorageConfig } from '../storage/drivers.ts'
import type { ReplaceableStore } from '../storage/replaceable-store.ts'
import { checkStagedInThread } from '../threads/staged-check-thread.ts'

/** Opens the store that is there by then; it ends the process if it cannot. */
type Reopen = () => Promise<Store>

/** For restores of snapshots. */
export function restorableStore(storage: StorageConfig, store: ReplaceableStore, reopen: Reopen): Restorable {
  const { staging } = durableLocation(storage)
  return {
    staging,
    position: () => store.position(),
    check: (staged) => checkStagedInThread(storage, staged),
    adopt: () => whileAway(store, reopen, () => staging.adopt()),
  }
}

/** For activations. In memory `reopen` must open the same location. */
export function leavingStore(
  location: Pick<StoreLocation, 'leaveOnly'>,
  store: ReplaceableStore,
  reopen: Reopen,
): LeaveOnly {
  return (left) => whileAway(store, reopen, () => location.leaveOnly(left))
}

async function whileAway(store: ReplaceableStore, reopen: Reopen, work: () => Promise<void>): Promise<void> {
  try {
    await store.putAway()
    await work()
  } finally {
    store.putBack(await reopen())
  }
}
