// The store in memory as a kind of storage: for development and tests.
import type { Store } from './contract.ts'
import type { LeftStore, OpenOptions, StorageDriver, StoreLocation } from './driver.ts'

/** `storage "inmem"` has no settings. */
export type MemoryConfig = { readonly type: 'inmem' }

class MemoryLocation implements StoreLocation {
  readonly where = 'in memory'
  readonly shown = { type: 'inmem' }
  readonly durable = undefined
  #left: LeftStore | undefined

  async open(options: OpenOptions): Promise<Store> {
    const left = this.#left
    this.#left = undefined
    // Loaded only when such a store is opened: every thread has this row, and one at most has the store.
    return (await import('./memory-store.ts')).createMemoryStore(options, left)
  }

  async leaveOnly(left: LeftStore): Promise<void> {
    this.#left = left
  }
}

/** The row of the store in memory. Every `open` makes an empty store, and one thread alone can have it. */
export const MEMORY_DRIVER: StorageDriver<MemoryConfig> = {
  type: 'inmem',
  about: 'Keeps the data in memory, and loses them when the server stops. It has no keys.',
  settings: {},
  configure: () => ({ type: 'inmem' }),
  locate: () => new MemoryLocation(),
}
