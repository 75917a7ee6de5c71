// The setting of how many keys each thread keeps ready for use (Interface 2.4). Stored at `config/cache` as JSON:
// `{"format":1,"size":500}`. With 0, or with nothing stored, the usual number holds (keys.ts).
import { checked, count } from '../../../lib/member-kinds.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'
import { storedRecord } from '../../../storage/stored-record.ts'

const PATH = 'config/cache'
/** Interface 7.11: a cache that is bounded holds ten keys or more. */
export const LEAST_CACHE_SIZE = 10

/** The setting as it is stored for a mount. Sizes that no request could have set make it corrupt. */
export const CACHE_SETTING = storedRecord('The setting of the cache of keys', {
  size: checked(count, (size) => size === 0 || size >= LEAST_CACHE_SIZE),
})

/** Returns the number of keys to keep ready; 0 means the usual number. @throws StorageCorrupt */
export async function cacheSize(storage: View): Promise<number> {
  const bytes = await storage.get(PATH)
  return bytes === undefined ? 0 : CACHE_SETTING.decode(bytes).size
}

/** Stores the setting; the caller has checked the size. It holds when the mount is loaded again. */
export function storeCacheSize(tx: ViewTransaction, size: number): void {
  tx.put(PATH, CACHE_SETTING.encode({ size }))
}
