// Rings as they were loaded last. A ring is loaded again after every change, and the most frequent change is one
// version more: then the keys of the other versions need not be parsed again. Rings are held weakly, so that this does
// not keep forgotten rings in memory.
import type { LoadedRing } from './loaded-ring.ts'
import type { RingMark } from './ring-store.ts'

/** A ring that was loaded before, with what tells whether it is still good. */
export type Last = {
  readonly ring: LoadedRing
  readonly mark: RingMark
  /** `beginnings` of the counter when its budgets were made (message-counter.ts). */
  readonly beginnings: number
}
type Kept = Omit<Last, 'ring'> & { readonly ring: WeakRef<LoadedRing> }

/** A single version is loaded as quickly as it is recognised. */
const LEAST_VERSIONS = 2
/** Rings that are remembered, at about 300 bytes each. Beyond it the one that was loaded first goes. */
export const MOST_KEPT = 2_000

/** The last ring of each key by name, unless it has a single version or was collected. */
export class LoadedBefore {
  readonly #kept = new Map<string, Kept>()

  find(name: string): Last | undefined {
    const kept = this.#kept.get(name)
    const ring = kept?.ring.deref()
    return kept === undefined || ring === undefined ? undefined : { ...kept, ring }
  }

  keep(name: string, last: Last): void {
    this.#kept.delete(name)
    if (last.ring.header.versions.length < LEAST_VERSIONS) return
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined && this.#kept.size >= MOST_KEPT) this.#kept.delete(oldest)
    this.#kept.set(name, { ...last, ring: new WeakRef(last.ring) })
  }

  clear(): void {
    this.#kept.clear()
  }
}
