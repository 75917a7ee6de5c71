// A cache that is bounded by what its values weigh, too: where a value may be a thousand times as large as another,
// their number alone bounds nothing.

export type CacheLimits = { readonly entries: number; readonly weight: number }

type Kept<T> = { readonly value: T; readonly weight: number }

export class WeighedCache<T> {
  readonly #limits: CacheLimits
  readonly #kept = new Map<string, Kept<T>>()
  #weight = 0

  constructor(limits: CacheLimits) {
    this.#limits = limits
  }

  get(key: string): T | undefined {
    return this.#kept.get(key)?.value
  }

  has(key: string): boolean {
    return this.#kept.has(key)
  }

  /** Those that have been kept longest go for it where there is too much. */
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
