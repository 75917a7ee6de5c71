// Rings as they were loaded the last time. A ring is loaded anew whenever it changed, and what changes most often is
// that it gets one version more: its other keys need not be parsed again. A ring is held weakly, so that what is
// forgotten is not kept from being collected by this.
import type { LoadedRing } from './loaded-ring.ts'
import type { RingMark } from './ring-store.ts'

export type Last = {
  readonly ring: LoadedRing
  readonly mark: RingMark
  /** Of the counter that its budgets are from (message-counter.ts). */
  readonly beginnings: number
}
type Kept = Omit<Last, 'ring'> & { readonly ring: WeakRef<LoadedRing> }

/** One alone is loaded as quickly as it is known again. */
const LEAST_VERSIONS = 2
/** About 300 bytes each. Beyond it the one that was loaded first goes. */
export const MOST_KEPT = 2_000

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
