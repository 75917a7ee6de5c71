// Whether encrypt may make keys (Interface 2.4): stored at `config/keys` as JSON, `{"format":1,"disableUpsert":true}`.
import { isJsonObject, parseStoredJson } from '../../lib/json.ts'
import { StorageCorrupt } from '../../storage/contract.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'

const PATH = 'config/keys'
const FORMAT = 1

/** @throws StorageCorrupt */
export async function upsertDisabled(storage: View | ViewTransaction): Promise<boolean> {
  const bytes = await storage.get(PATH)
  if (bytes === undefined) return false
  const value = parseStoredJson(bytes)
  if (!isJsonObject(value) || value.format !== FORMAT || typeof value.disableUpsert !== 'boolean') {
    throw new StorageCorrupt(`What is stored at ${PATH} has an unknown format`)
  }
  return value.disableUpsert
}

export function storeUpsertDisabled(tx: ViewTransaction, disableUpsert: boolean): void {
  tx.put(PATH, Buffer.from(JSON.stringify({ format: FORMAT, disableUpsert })))
}
