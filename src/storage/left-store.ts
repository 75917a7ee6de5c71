// Makes what a store is left with when its data go (driver.ts, `leaveOnly`): a transaction runs on a store in memory
// that has only the entries that stay. So it has the view, the checks and the leaves of any transaction, and what it
// leaves is small: it may write MAX_TRANSACTION_BYTES, and whoever calls has the rest in memory.
import type { Clock } from '../lib/world.ts'
import { openStore } from './commit/transactional-store.ts'
import type { StoredEntry, Transaction } from './contract.ts'
import type { LeftStore, StagedPosition } from './driver.ts'
import { MemoryBackend } from './memory-backend.ts'
import { MemoryTables } from './memory-tables.ts'

/** What the work finds there, and the key of the leaves of what it writes. */
export type LeftParts = {
  readonly at: StagedPosition
  readonly kept: readonly StoredEntry[]
  readonly leafKey: Buffer
  readonly clock: Clock
}

/** Returns what `work` makes of the entries that are kept. @throws what a transaction throws */
export async function leftBy(
  work: (tx: Transaction) => Promise<void>,
  { at, kept, leafKey, clock }: LeftParts,
): Promise<LeftStore> {
  const store = await openStore(new MemoryBackend(new MemoryTables(at, kept)), { clock })
  try {
    store.setLeafKey(leafKey)
    await store.transaction(work)
    const snapshot = await store.snapshot()
    return { ...at, entries: await snapshot.stored('', Number.POSITIVE_INFINITY) }
  } finally {
    store.setLeafKey(undefined)
    await store.close()
  }
}
