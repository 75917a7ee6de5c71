// How many keys each thread keeps ready for use (Interface 2.4): stored at `config/cache` as JSON,
// `{"format":1,"size":500}`; 0, and nothing stored: as many as is usual.
import { checked, count } from '../../../lib/member-kinds.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'
import { storedRecord } from '../../../storage/stored-record.ts'

const PATH = 'config/cache'
export const LEAST_CACHE_SIZE = 10

export const CACHE_SETTING = storedRecord('The setting of the cache of keys', {
  size: checked(count, (size) => size === 0 || size >= LEAST_CACHE_SIZE),
})

/** @throws StorageCorrupt */
export async function cacheSize(storage: View): Promise<number> {
  const bytes = await storage.get(PATH)
  return bytes === undefined ? 0 : CACHE_SETTING.decode(bytes).size
}

export function storeCacheSize(tx: ViewTransaction, size: number): void {
  tx.put(PATH, CACHE_SETTING.encode({ size }))
}
