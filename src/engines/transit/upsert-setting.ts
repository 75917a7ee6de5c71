// The setting that decides whether encrypt may make keys (Interface 2.4). Stored at `config/keys` as JSON:
// `{"format":1,"disableUpsert":true}`.
import { flag } from '../../lib/member-kinds.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'
import { storedRecord } from '../../storage/stored-record.ts'

const PATH = 'config/keys'

/** The stored form; no entry means that encrypt makes keys. */
export const UPSERT_SETTING = storedRecord('The setting of new keys', { disableUpsert: flag })

/** True if encrypt must not make keys. It asks in the transaction that stores the new key. @throws StorageCorrupt */
export async function upsertDisabled(storage: View | ViewTransaction): Promise<boolean> {
  const bytes = await storage.get(PATH)
  return bytes === undefined ? false : UPSERT_SETTING.decode(bytes).disableUpsert
}

/** Stores the setting in the caller's transaction. */
export function storeUpsertDisabled(tx: ViewTransaction, disableUpsert: boolean): void {
  tx.put(PATH, UPSERT_SETTING.encode({ disableUpsert }))
}
