// Which versions of this program have had the store, and since when:
//
//   root/core/version/VERSION      JSON, {"format":1,"installedAtMs":…,"previous":…}
import { isJsonObject, parseStoredJson } from '../lib/json.ts'
import type { Clock } from '../lib/world.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'

export type InstalledVersion = {
  readonly version: string
  /** When it opened the store for the first time. */
  readonly installedAtMs: number
  /** Empty for the first. */
  readonly previous: string
}

export class VersionHistory {
  readonly #view: View
  readonly #clock: Clock

  constructor(storage: SealedStorage, clock: Clock) {
    this.#view = storage.view(systemScope, `${ROOT_NAMESPACE}/core/version/`)
    this.#clock = clock
  }

  /** Oldest first. */
  async list(): Promise<InstalledVersion[]> {
    const found: InstalledVersion[] = []
    for (const version of await this.#view.list('')) {
      const bytes = await this.#view.get(version)
      if (bytes !== undefined) found.push(decoded(version, bytes))
    }
    return found.sort((a, b) => a.installedAtMs - b.installedAtMs)
  }

  /** Where the store is opened for writing. Writes only where `version` is new to it. */
  async note(version: string): Promise<void> {
    if ((await this.#view.get(version)) !== undefined) return
    const previous = (await this.list()).at(-1)?.version ?? ''
    const entry = { format: 1, installedAtMs: this.#clock.nowMs(), previous }
    await this.#view.transaction(async (tx) => tx.put(version, Buffer.from(JSON.stringify(entry))))
  }
}

function decoded(version: string, bytes: Buffer): InstalledVersion {
  const stored = parseStoredJson(bytes)
  if (!isJsonObject(stored) || stored.format !== 1) throw new Error('A version of the history has an unknown format')
  return { version, installedAtMs: Number(stored.installedAtMs), previous: String(stored.previous) }
}
