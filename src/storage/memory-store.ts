// A store that forgets everything when the process ends: for tests and examples.
import type { Random } from '../lib/world.ts'
import { HISTORY_ID_BYTES } from './backend.ts'
import { type StoreOptions, TransactionalStore } from './commit/transactional-store.ts'
import type { Store } from './contract.ts'
import type { LeftStore } from './driver.ts'
import { MemoryBackend } from './memory-backend.ts'
import { MemoryTables } from './memory-tables.ts'

/** An open store of what is left, or else an empty one. The history id of that is drawn from `random`. */
export function createMemoryStore(options: StoreOptions & { readonly random: Random }, left?: LeftStore): Store {
  const begun = left === undefined ? options.random.bytes(HISTORY_ID_BYTES) : new MemoryTables(left, left.entries)
  const backend = new MemoryBackend(begun)
  return new TransactionalStore(backend, backend.positionNow, options)
}
