// What this server has noted of reloads of mounts that are not here any more, as those that a filter took. It is of
// class ignored, so no primary removes it, and neither does the step that removes what came from one.
import { CORE_FOLDER, MOUNT_FOLDERS, UNMOUNT_FOLDERS } from '../../core/mount-entries.ts'
import { filteredMountOf } from '../../storage/classes.ts'
import { type Snapshot, type Store, systemScope } from '../../storage/contract.ts'
import { RELOADS_HERE } from '../../system/reloads.ts'

const FOLDER = CORE_FOLDER + RELOADS_HERE

/** Removes it. A mount that is local stays with what is noted of it, since its entry is here. */
export async function removeStrayReloads(store: Pick<Store, 'snapshot' | 'transaction'>): Promise<void> {
  const snapshot = await store.snapshot()
  let strays: readonly string[]
  try {
    const noted = (await snapshot.list(FOLDER)).filter((name) => filteredMountOf(FOLDER + name) === name)
    const here = noted.length === 0 ? new Set() : await mountsIn(snapshot)
    strays = noted.filter((uuid) => !here.has(uuid))
  } finally {
    await snapshot.close()
  }
  if (strays.length === 0) return
  await store.transaction(async (tx) => {
    for (const uuid of strays) tx.delete(systemScope, FOLDER + uuid)
  })
}

/** UUIDs of all mounts that have an entry, in whatever namespace. */
async function mountsIn(snapshot: Snapshot): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const namespace of await snapshot.list(''))
    for (const folder of [...MOUNT_FOLDERS, ...UNMOUNT_FOLDERS])
      for (const uuid of await snapshot.list(`${namespace}core/${folder}`)) found.add(uuid)
  return found
}
