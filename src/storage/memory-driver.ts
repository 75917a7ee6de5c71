// The store in memory as a kind of storage: for development and tests.
import type { StorageDriver, StoreLocation } from './driver.ts'

/** `storage "inmem"` has no settings. */
export type MemoryConfig = { readonly type: 'inmem' }

const LOCATION: StoreLocation = {
  where: 'in memory',
  shown: { type: 'inmem' },
  // Loaded only when such a store is opened: every thread has this row, and one at most has the store.
  open: async (options) => (await import('./memory-store.ts')).createMemoryStore(options),
  durable: undefined,
}

/** The row of the store in memory. Every `open` makes an empty store, and one thread alone can have it. */
export const MEMORY_DRIVER: StorageDriver<MemoryConfig> = {
  type: 'inmem',
  about: 'Keeps the data in memory, and loses them when the server stops. It has no keys.',
  settings: {},
  configure: () => ({ type: 'inmem' }),
  locate: () => LOCATION,
}
