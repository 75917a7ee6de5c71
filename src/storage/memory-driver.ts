// The store in memory as a kind of storage: for development and tests.
import type { StorageDriver, StoreLocation } from './driver.ts'
import { createMemoryStore } from './memory-store.ts'

export type MemoryConfig = { readonly type: 'inmem' }

const LOCATION: StoreLocation = {
  where: 'in memory',
  shown: { type: 'inmem' },
  open: async (options) => createMemoryStore(options),
  durable: undefined,
}

export const MEMORY_DRIVER: StorageDriver<MemoryConfig> = {
  type: 'inmem',
  about: 'It has no keys, and forgets everything when the server ends.',
  settings: {},
  configure: () => ({ type: 'inmem' }),
  locate: () => LOCATION,
}
