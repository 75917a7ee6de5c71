// The counts of messages that reads of a key show. Counts change once in a block of messages, while some clients read a
// key with every request: so numbers are cached until they change.
import { CoherentCache } from '../../../lib/coherent-cache.ts'
import type { View } from '../../../storage/sealed-storage.ts'
import { LIVES, readGranted, readLives, sealedAtMost, USE_FOLDER } from './message-count-store.ts'

/** Numbers in the cache, at about 100 bytes each. */
const MAX_KEPT = 20_000

/** The member of the answer: by version, the most messages that it can have encrypted. */
export type EncryptionCounts = { readonly encryption_counts: Readonly<Record<string, number>> }

/** A version, as far as its count is concerned. */
type CountedVersion = {
  readonly number: number
  readonly identity: string
  readonly header: { readonly countedFrom?: number }
}

/** Reads counts on one thread, for one mount. */
export class CountReader {
  readonly #storage: View
  /** Numbers by the paths at which they are stored; a number that is not stored is 0. */
  readonly #kept = new CoherentCache<number>(MAX_KEPT)

  constructor(storage: View) {
    this.#storage = storage
  }

  /** Returns the counts of versions whose messages are counted. @throws StorageCorrupt */
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

  /** Forgets the number whose entry changed; `path` is relative to the mount. */
  changed(path: string): void {
    if (path === LIVES || path.startsWith(USE_FOLDER)) this.#kept.forget(path)
  }

  reset(): void {
    this.#kept.clear()
  }
}
