import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'

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
