// How many keys each thread keeps ready for use (Interface 2.4): stored at `config/cache` as JSON,
// `{"format":1,"size":500}`; 0, and nothing stored: as many as is usual.
import { isJsonObject, parseStoredJson } from '../../../lib/json.ts'
import { StorageCorrupt } from '../../../storage/contract.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'

const PATH = 'config/cache'
const FORMAT = 1
export const LEAST_CACHE_SIZE = 10

/** @throws StorageCorrupt */
export async function cacheSize(storage: View): Promise<number> {
  const bytes = await storage.get(PATH)
  if (bytes === undefined) return 0
  const value = parseStoredJson(bytes)
  if (!isJsonObject(value) || value.format !== FORMAT || !isSize(value.size)) {
    throw new StorageCorrupt(`What is stored at ${PATH} has an unknown format`)
  }
  return value.size
}

function isSize(size: unknown): size is number {
  return size === 0 || (typeof size === 'number' && Number.isSafeInteger(size) && size >= LEAST_CACHE_SIZE)
}

export function storeCacheSize(tx: ViewTransaction, size: number): void {
  tx.put(PATH, Buffer.from(JSON.stringify({ format: FORMAT, size })))
}
