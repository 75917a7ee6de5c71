// What reads of a key show of the messages that its versions have sealed. Counts change with a block of messages and
// keys are read with every request of some clients, so numbers are kept as they were read until they change.
import { CoherentCache } from '../../../lib/coherent-cache.ts'
import type { View } from '../../../storage/sealed-storage.ts'
import { LIVES, readGranted, readLives, sealedAtMost, USE_FOLDER } from './message-count-store.ts'

/** About 100 bytes each. */
const MAX_KEPT = 20_000

export type EncryptionCounts = { readonly encryption_counts: Readonly<Record<string, number>> }

/** What a count belongs to. */
type CountedVersion = {
  readonly number: number
  readonly identity: string
  readonly header: { readonly countedFrom?: number }
}

export class CountReader {
  readonly #storage: View
  /** By the path at which a number is stored; one that is not stored is 0. */
  readonly #kept = new CoherentCache<number>(MAX_KEPT)

  constructor(storage: View) {
    this.#storage = storage
  }

  /** Of versions whose messages are counted. @throws StorageCorrupt */
  async read(versions: readonly CountedVersion[]): Promise<EncryptionCounts> {
    const lives = await this.#kept.get(LIVES, this.#load)
    const counts: Record<string, number> = {}
    for (const { number, identity, header } of versions) {
      const granted = await this.#kept.get(USE_FOLDER + identity, this.#load)
      counts[number] = sealedAtMost(header, granted ?? 0, lives ?? 0)
    }
    return { encryption_counts: counts }
  }

  readonly #load = (path: string): Promise<number> =>
    path === LIVES ? readLives(this.#storage) : readGranted(this.#storage, path.slice(USE_FOLDER.length))

  /** `path` is relative to the mount. */
  changed(path: string): void {
    if (path === LIVES || path.startsWith(USE_FOLDER)) this.#kept.forget(path)
  }

  reset(): void {
    this.#kept.clear()
  }
}
