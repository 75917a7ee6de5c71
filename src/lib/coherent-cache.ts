// A cache of values read from storage. The writer of a change tells which name changed. The result of a load under way
// then goes only to those who wait for it and is not kept, so the cache has nothing older than the last change it was
// told of. Kept values are frozen: a caller that got one cannot change it for the others (threats D-09).
import { freezePlain } from './freeze.ts'

/** Look-ups since the start of the thread, for metrics. */
export type Lookups = { readonly hits: number; readonly misses: number }

type Load<T> = (name: string) => Promise<T | undefined>

/** A value, and whether it was asked for since it was last considered for eviction. */
type Kept<T> = { readonly value: T; readonly weight: number; isUsed: boolean }

/** For values of very different sizes: the weight of one, and the most that all may weigh together. */
export type Weights<T> = { readonly of: (value: T) => number; readonly most: number }

/** The cache of one kind of value in one thread. Its owner calls `forget` and `clear` from an invalidation. */
export class CoherentCache<T> {
  readonly #values = new Map<string, Kept<T>>()
  readonly #loading = new Map<string, Promise<T | undefined>>()
  readonly #weights: Weights<T> | undefined
  #capacity: number
  #weight = 0
  /** Look-ups since the beginning, for metrics. */
  hits = 0
  misses = 0

  /**
   * Beyond `capacity` values, one is evicted that was not asked for since it was last considered. This comes close to
   * least recently used, and a hit moves nothing.
   */
  constructor(capacity: number, weights?: Weights<T>) {
    this.#capacity = capacity
    this.#weights = weights
  }

  /** Takes effect with the next value. */
  set capacity(capacity: number) {
    this.#capacity = capacity
  }

  /** Returns a kept value at once, otherwise a promise. A name without a value is loaded each time. */
  get(name: string, load: Load<T>): T | Promise<T | undefined> {
    const kept = this.#values.get(name)
    if (kept === undefined) {
      this.misses++
      return this.#loading.get(name) ?? this.#load(name, load)
    }
    this.hits++
    kept.isUsed = true
    return kept.value
  }

  #load(name: string, load: Load<T>): Promise<T | undefined> {
    const loading = load(name).then(
      (value) => {
        if (this.#settle(name, loading) && value !== undefined) this.#keep(name, value)
        return value
      },
      (cause: unknown) => {
        this.#settle(name, loading)
        throw cause
      },
    )
    this.#loading.set(name, loading)
    return loading
  }

  /** True if nothing changed since the load began. */
  #settle(name: string, loading: Promise<T | undefined>): boolean {
    return this.#loading.get(name) === loading && this.#loading.delete(name)
  }

  #keep(name: string, value: T): void {
    const { of, most = Number.POSITIVE_INFINITY } = this.#weights ?? {}
    const weight = of?.(value) ?? 0
    this.#drop(name)
    while (this.#values.size > 0 && (this.#values.size >= this.#capacity || this.#weight + weight > most))
      this.#makeRoom()
    this.#values.set(name, { value: freezePlain(value), weight, isUsed: false })
    this.#weight += weight
  }

  #drop(name: string): void {
    this.#weight -= this.#values.get(name)?.weight ?? 0
    this.#values.delete(name)
  }

  /** Evicts the value in front. One that was used moves to the end instead, and goes the next time. */
  #makeRoom(): void {
    for (const [name, kept] of this.#values) {
      if (!kept.isUsed) {
        this.#drop(name)
        return
      }
      this.#values.delete(name)
      kept.isUsed = false
      this.#values.set(name, kept)
    }
  }

  /** The value of `name` changed: drops it, and the result of a load under way. */
  forget(name: string): void {
    this.#drop(name)
    this.#loading.delete(name)
  }

  /** Drops everything, and the results of loads under way. */
  clear(): void {
    this.#values.clear()
    this.#weight = 0
    this.#loading.clear()
  }
}
