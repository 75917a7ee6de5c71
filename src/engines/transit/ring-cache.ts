// Loaded rings by name. Whoever changes the store says which name changed; a load that was under way then is not kept,
// so nothing older than the last change is served.
import type { LoadedRing } from './loaded-ring.ts'

type Load = (name: string) => Promise<LoadedRing | undefined>

export class RingCache {
  readonly #rings = new Map<string, LoadedRing>()
  readonly #loading = new Map<string, Promise<LoadedRing | undefined>>()
  readonly #capacity: number

  /** Beyond `capacity` rings the one that was loaded first goes: a hit then writes nothing. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** The kept ring at once, else a promise; a name without a ring is asked for each time. */
  get(name: string, load: Load): LoadedRing | Promise<LoadedRing | undefined> {
    return this.#rings.get(name) ?? this.#loading.get(name) ?? this.#load(name, load)
  }

  #load(name: string, load: Load): Promise<LoadedRing | undefined> {
    const loading = load(name).then(
      (ring) => {
        if (this.#settle(name, loading) && ring !== undefined) this.#keep(name, ring)
        return ring
      },
      (cause: unknown) => {
        this.#settle(name, loading)
        throw cause
      },
    )
    this.#loading.set(name, loading)
    return loading
  }

  /** Whether nothing changed since the load began. */
  #settle(name: string, loading: Promise<LoadedRing | undefined>): boolean {
    return this.#loading.get(name) === loading && this.#loading.delete(name)
  }

  #keep(name: string, ring: LoadedRing): void {
    if (this.#rings.size >= this.#capacity) {
      const oldest = this.#rings.keys().next()
      if (oldest.done !== true) this.#rings.delete(oldest.value)
    }
    this.#rings.set(name, ring)
  }

  forget(name: string): void {
    this.#rings.delete(name)
    this.#loading.delete(name)
  }

  clear(): void {
    this.#rings.clear()
    this.#loading.clear()
  }
}
