// Whether encrypt may make keys (Interface 2.4): stored at `config/keys` as JSON, `{"format":1,"disableUpsert":true}`.
import { flag } from '../../lib/member-kinds.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'
import { storedRecord } from '../../storage/stored-record.ts'

const PATH = 'config/keys'

export const UPSERT_SETTING = storedRecord('The setting of new keys', { disableUpsert: flag })

/** @throws StorageCorrupt */
export async function upsertDisabled(storage: View | ViewTransaction): Promise<boolean> {
  const bytes = await storage.get(PATH)
  return bytes === undefined ? false : UPSERT_SETTING.decode(bytes).disableUpsert
}

export function storeUpsertDisabled(tx: ViewTransaction, disableUpsert: boolean): void {
  tx.put(PATH, UPSERT_SETTING.encode({ disableUpsert }))
}
