// The store of a server, as a restore works on it.
import type { Restorable } from '../assembly/restore.ts'
import type { Store } from '../storage/contract.ts'
import { durableLocation, type StorageConfig } from '../storage/drivers.ts'
import type { ReplaceableStore } from '../storage/replaceable-store.ts'
import { checkStagedInThread } from '../threads/staged-check-thread.ts'

/** `reopen` opens the store that is there by then; it ends the process if it cannot. */
export function restorableStore(
  storage: StorageConfig,
  store: ReplaceableStore,
  reopen: () => Promise<Store>,
): Restorable {
  const { staging } = durableLocation(storage)
  return {
    staging,
    position: () => store.position(),
    check: (staged) => checkStagedInThread(storage, staged),
    adopt: async () => {
      try {
        await store.putAway()
        await staging.adopt()
      } finally {
        store.putBack(await reopen())
      }
    },
  }
}
