// A cache that is bounded by the weight of its values too. If one value may be a thousand times as large as another,
// their number alone bounds nothing.

/** The most values, and the most that they may weigh together. */
export type CacheLimits = { readonly entries: number; readonly weight: number }

type Kept<T> = { readonly value: T; readonly weight: number }

/** Keeps values by key, up to both limits. A look-up does not prolong the stay of a value. */
export class WeighedCache<T> {
  readonly #limits: CacheLimits
  readonly #kept = new Map<string, Kept<T>>()
  #weight = 0

  constructor(limits: CacheLimits) {
    this.#limits = limits
  }

  /** Returns undefined for a key that is not kept, and for one kept with that value: `has` tells them apart. */
  get(key: string): T | undefined {
    return this.#kept.get(key)?.value
  }

  has(key: string): boolean {
    return this.#kept.has(key)
  }

  /** Keeps a value. If there is too much, values that have been kept longest are dropped. */
  keep(key: string, value: T, weight: number): void {
    this.#drop(key)
    for (const oldest of this.#kept.keys()) {
      const { entries, weight: most } = this.#limits
      if (this.#kept.size < entries && this.#weight + weight <= most) break
      this.#drop(oldest)
    }
    this.#kept.set(key, { value, weight })
    this.#weight += weight
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key)
    if (kept === undefined) return
    this.#kept.delete(key)
    this.#weight -= kept.weight
  }

  clear(): void {
    this.#kept.clear()
    this.#weight = 0
  }
}
