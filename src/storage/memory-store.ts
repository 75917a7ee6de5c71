// A store that forgets everything when the process ends: for tests and examples.
import type { Random } from '../lib/world.ts'
import { HISTORY_ID_BYTES } from './backend.ts'
import { type StoreOptions, TransactionalStore } from './commit/transactional-store.ts'
import type { Store } from './contract.ts'
import { MemoryBackend } from './memory-backend.ts'

/** An empty, open store. Its history id is drawn from `random`. */
export function createMemoryStore(options: StoreOptions & { readonly random: Random }): Store {
  const backend = new MemoryBackend(options.random.bytes(HISTORY_ID_BYTES))
  return new TransactionalStore(backend, backend.positionNow, options)
}
