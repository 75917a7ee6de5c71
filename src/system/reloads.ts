// Reloading a mount: every thread drops what it keeps of the mount in memory and reads it again. A reload is a write.
// So it reaches each thread in order with all other changes, and a thread that restarts does not miss it:
//
//   root/core/reload/MOUNT             JSON, {"format":1,"id":…,"atMs":…}: the last reload here
//   root/core/global-reload/MOUNT      the same, carried to every cluster
import { count, text } from '../lib/member-kinds.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { storedRecord } from '../storage/stored-record.ts'

/** The folder of the reloads here, by the UUIDs of mounts. */
export const RELOADS_HERE = 'reload/'
const FOLDERS = { here: RELOADS_HERE, global: 'global-reload/' } as const
/** `here`: this cluster. `global`: every cluster, by replication. */
export type ReloadScope = keyof typeof FOLDERS

/** The last reload of one mount. */
export const RELOAD = storedRecord('The reload of a mount', { id: text, atMs: count })

/** Reloads of mounts, and the memory of them that sys/plugins/reload/backend/status reads. */
export class Reloads {
  readonly #view: View
  readonly #world: World

  /** `reset` makes this thread drop what it keeps of the mount with this UUID; it ignores an unknown one. */
  constructor(
    storage: SealedStorage,
    invalidation: Invalidation,
    parts: { readonly world: World; readonly reset: (uuid: string) => void },
  ) {
    this.#view = storage.view(systemScope, `${ROOT_NAMESPACE}/core/`)
    this.#world = parts.world
    // `reset` does nothing here: when everything may have changed, each engine is told directly.
    for (const folder of Object.values(FOLDERS))
      invalidation.register({ prefix: `core/${folder}`, changed: parts.reset, reset: () => {} })
  }

  /** Reloads the mounts and returns an id for the reload. Each thread carries it out before its next request. */
  async reload(uuids: readonly string[], scope: ReloadScope): Promise<string> {
    const id = this.#world.random.uuid()
    const entry = RELOAD.encode({ id, atMs: this.#world.clock.nowMs() })
    await this.#view.transaction(async (tx) => {
      for (const uuid of uuids) tx.put(FOLDERS[scope] + uuid, entry)
    })
    return id
  }

  /** When the reload with this id was made; undefined for an unknown id, or once later reloads replaced its records. */
  async findTime(id: string): Promise<number | undefined> {
    for (const folder of Object.values(FOLDERS)) {
      for (const uuid of await this.#view.list(folder)) {
        const bytes = await this.#view.get(folder + uuid)
        const stored = bytes && RELOAD.decode(bytes)
        if (stored?.id === id) return stored.atMs
      }
    }
    return undefined
  }

  /** Removes the records of a mount, each by itself: this server's own and the set's. Called when the mount goes. */
  async forget(uuid: string): Promise<void> {
    for (const folder of Object.values(FOLDERS)) {
      await this.#view.transaction(async (tx) => {
        if ((await tx.get(folder + uuid)) !== undefined) tx.delete(folder + uuid)
      })
    }
  }
}
