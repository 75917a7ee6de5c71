// What a promotion leaves to do before the first request. What the former primary did last may be unknown here: every
// mount counts for it, once. All of it can be done again, so a crash anywhere in between does no harm.
import type { Audit } from '../audit/audit.ts'
import type { MountTable } from '../core/mount-table.ts'
import { familyParts, SETS_FOLDER } from '../replication/set/records.ts'
import { clearTakenOver, readTakenOver } from '../replication/set/taken-over.ts'
import { systemScope } from '../storage/contract.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import type { SystemServices } from '../system/services.ts'

/** The rooms that have something to do. */
export type AfterPromotionRooms = {
  readonly audit: Pick<Audit, 'noteHistory'>
  readonly mounts: Pick<MountTable, 'promoted'>
  readonly services: Pick<SystemServices, 'reloads'>
  readonly storage: Pick<SealedStorage, 'view'>
}

/** Does it, if a promotion left a note. @throws what storing throws; the note stays then */
export async function afterPromotion({ audit, mounts, services, storage }: AfterPromotionRooms): Promise<void> {
  const sets = storage.view(systemScope, SETS_FOLDER)
  const { taken, performance } = await sets.transaction(async (tx) => ({
    taken: await readTakenOver(tx),
    performance: (await familyParts(tx)).performance.mode,
  }))
  if (taken === undefined) return
  // A node that stays open through a promotion noted its history before.
  await audit.noteHistory()
  // Not by the role of this node: it takes that when this is done.
  const ownsShared = performance === 'disabled' || performance === 'primary'
  const { epoch, atMs, takesPlace, isHandedOver } = taken
  for await (const uuids of mounts.promoted(`${epoch} ${atMs}`, { takesPlace, isHandedOver, ownsShared })) {
    // What threads hold of these mounts is of the time before: they drop it, each before its next request.
    await services.reloads.reload(uuids, 'here')
  }
  await sets.transaction(async (tx) => clearTakenOver(tx))
}
