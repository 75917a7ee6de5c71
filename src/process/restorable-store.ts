// The store of a data directory, as a restore takes hold of it.
import type { Restorable } from '../assembly/restore.ts'
import type { Store } from '../storage/contract.ts'
import type { ReplaceableStore } from '../storage/replaceable-store.ts'
import { adoptStaged } from '../storage/snapshot/staged-store.ts'
import { checkStagedInThread } from '../threads/staged-check-thread.ts'

/** `reopen` opens what is in the directory; it ends the process where it cannot. */
export function restorableStore(directory: string, store: ReplaceableStore, reopen: () => Promise<Store>): Restorable {
  return {
    directory,
    position: async () => {
      const snapshot = await store.snapshot()
      await snapshot.close()
      return snapshot.position
    },
    check: checkStagedInThread,
    adopt: async () => {
      try {
        await store.putAway()
        adoptStaged(directory)
      } finally {
        store.putBack(await reopen())
      }
    },
  }
}
