// Which writes of a set were lost: noted by its primary before it serves anybody, and read by all clusters of the set.
import { CORE_FOLDER } from '../core/mount-entries.ts'
import {
  type Gap,
  gapsOfSet,
  LOST_WRITES,
  LOST_WRITES_PATH,
  type SetPromotion,
  withGaps,
} from '../replication/consistency/lost-writes.ts'
import {
  followedPlace,
  type PromotionNote,
  readPromotions,
  readState,
  SETS_FOLDER,
} from '../replication/set/records.ts'
import { type Store, systemScope } from '../storage/contract.ts'
import type { SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'

/** The gaps that are noted. `core` is the folder of the cluster. @throws StorageCorrupt */
export async function readLostWrites(core: Pick<View | ViewTransaction, 'get'>): Promise<readonly Gap[]> {
  const stored = await core.get(LOST_WRITES_PATH)
  return stored === undefined ? [] : LOST_WRITES.decode(stored).gaps
}

/**
 * Notes what the last promotion lost to the set, and what restores did. It may be done any number of times. A secondary
 * that follows this primary has the note as soon as it has the numbers which the promotion began, since both come with
 * the same log.
 */
export async function noteLostWrites(
  storage: Pick<SealedStorage, 'view'>,
  store: Pick<Store, 'histories'>,
): Promise<void> {
  const { isPrimary, promotions } = await storage.view(systemScope, SETS_FOLDER).transaction(async (tx) => ({
    isPrimary: (await readState(tx, 'performance'))?.mode === 'primary',
    promotions: await readPromotions(tx, 'performance'),
  }))
  if (!isPrimary) return
  const found = gapsOfSet(await store.histories(), promotions.map(placesOf))
  await storage.view(systemScope, CORE_FOLDER).transaction(async (tx) => {
    const gaps = withGaps(await readLostWrites(tx), found)
    if (gaps !== undefined) tx.put(LOST_WRITES_PATH, LOST_WRITES.encode({ gaps }))
  })
}

const placesOf = (note: PromotionNote): SetPromotion => ({
  historyId: Buffer.from(note.historyId, 'base64'),
  followed: followedPlace(note)?.index,
})
