// Reloading a mount: every thread forgets what it keeps of it, and reads it anew. A reload is a write, so that it
// reaches each thread in the order of all other changes, and a thread that is away for a moment too:
//
//   root/core/reload/MOUNT             JSON, {"format":1,"id":…,"atMs":…}: the last reload here
//   root/core/global-reload/MOUNT      the same, carried to every cluster
import { count, text } from '../lib/member-kinds.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { storedRecord } from '../storage/stored-record.ts'

const FOLDERS = { here: 'reload/', global: 'global-reload/' } as const
export type ReloadScope = keyof typeof FOLDERS

export const RELOAD = storedRecord('The reload of a mount', { id: text, atMs: count })

export class Reloads {
  readonly #view: View
  readonly #world: World

  /** `reset`: makes this thread forget what it keeps of the mount with this UUID, where there is one. */
  constructor(
    storage: SealedStorage,
    invalidation: Invalidation,
    parts: { readonly world: World; readonly reset: (uuid: string) => void },
  ) {
    this.#view = storage.view(systemScope, `${ROOT_NAMESPACE}/core/`)
    this.#world = parts.world
    // Where everything may have changed, engines are told so themselves.
    for (const folder of Object.values(FOLDERS))
      invalidation.register({ prefix: `core/${folder}`, changed: parts.reset, reset: () => {} })
  }

  /** The id of the reload. It is done on a thread before that serves its next request. */
  async reload(uuids: readonly string[], scope: ReloadScope): Promise<string> {
    const id = this.#world.random.uuid()
    const entry = RELOAD.encode({ id, atMs: this.#world.clock.nowMs() })
    await this.#view.transaction(async (tx) => {
      for (const uuid of uuids) tx.put(FOLDERS[scope] + uuid, entry)
    })
    return id
  }

  /** When the reload with this id was made; undefined where there is none, or later ones took its place. */
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

  /** For a mount that is removed. */
  async forget(uuid: string): Promise<void> {
    await this.#view.transaction(async (tx) => {
      for (const folder of Object.values(FOLDERS)) {
        if ((await tx.get(folder + uuid)) !== undefined) tx.delete(folder + uuid)
      }
    })
  }
}
