// Rings as they were loaded the last time. A ring is loaded anew whenever it changed, and what changes most often is
// that it gets one version more: its other keys need not be parsed again. A ring is held weakly, so that what is
// forgotten is not kept from being collected by this.
import type { SecretsMark } from './key-ring.ts'
import type { LoadedRing } from './loaded-ring.ts'

type Last = { readonly ring: LoadedRing; readonly mark: SecretsMark }
type Kept = { readonly ring: WeakRef<LoadedRing>; readonly mark: SecretsMark }

/** One alone is loaded as quickly as it is known again. */
const LEAST_VERSIONS = 2
/** About 300 bytes each. Beyond it the one that was loaded first goes. */
export const MOST_KEPT = 2_000

export class LoadedBefore {
  readonly #kept = new Map<string, Kept>()

  find(name: string): Last | undefined {
    const kept = this.#kept.get(name)
    const ring = kept?.ring.deref()
    return kept === undefined || ring === undefined ? undefined : { ring, mark: kept.mark }
  }

  keep(name: string, ring: LoadedRing, mark: SecretsMark): void {
    this.#kept.delete(name)
    if (ring.header.versions.length < LEAST_VERSIONS) return
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined && this.#kept.size >= MOST_KEPT) this.#kept.delete(oldest)
    this.#kept.set(name, { ring: new WeakRef(ring), mark })
  }

  clear(): void {
    this.#kept.clear()
  }
}
