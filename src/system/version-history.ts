// The versions of this program that have opened the store, and when each first did:
//
//   root/core/version/VERSION      JSON, {"format":1,"installedAtMs":…,"previous":…}
import { count, type GroupOf, text } from '../lib/member-kinds.ts'
import type { Clock } from '../lib/world.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { storedRecord } from '../storage/stored-record.ts'

const MEMBERS = {
  /** When this version first opened the store. */
  installedAtMs: count,
  /** The version before; empty for the first. */
  previous: text,
}
/** One version of the history; its name is the key. */
export const VERSION_RECORD = storedRecord('A version of the history', MEMBERS, 'dropped')
/** A row of the history. */
export type InstalledVersion = GroupOf<typeof MEMBERS> & { readonly version: string }

/** The history behind sys/version-history: by it an operator sees which upgrades a store went through. */
export class VersionHistory {
  readonly #view: View
  readonly #clock: Clock

  constructor(storage: SealedStorage, clock: Clock) {
    this.#view = storage.view(systemScope, `${ROOT_NAMESPACE}/core/version/`)
    this.#clock = clock
  }

  /** All versions, the oldest first. */
  async list(): Promise<InstalledVersion[]> {
    const found: InstalledVersion[] = []
    for (const version of await this.#view.list('')) {
      const bytes = await this.#view.get(version)
      if (bytes !== undefined) found.push({ version, ...VERSION_RECORD.decode(bytes) })
    }
    return found.sort((a, b) => a.installedAtMs - b.installedAtMs)
  }

  /** Records the running version where the store is opened for writing. Writes only if the version is new to it. */
  async note(version: string): Promise<void> {
    if ((await this.#view.get(version)) !== undefined) return
    const previous = (await this.list()).at(-1)?.version ?? ''
    const entry = VERSION_RECORD.encode({ installedAtMs: this.#clock.nowMs(), previous })
    await this.#view.transaction(async (tx) => tx.put(version, entry))
  }
}
