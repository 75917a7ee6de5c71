// A cache of what was read from storage. Whoever changes the store says which name changed; a load that was under way
// then is not kept, so nothing older than the last change is served. What is kept is frozen, so that who got it cannot
// change it for the others (threats D-09).
import { freezePlain } from './freeze.ts'

export type Lookups = { readonly hits: number; readonly misses: number }

type Load<T> = (name: string) => Promise<T | undefined>

/** A value, and whether it was asked for since it was last considered to go. */
type Kept<T> = { readonly value: T; readonly weight: number; isUsed: boolean }

/** Where values may be much larger than most: what each takes, and what all may take together. */
export type Weights<T> = { readonly of: (value: T) => number; readonly most: number }

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
   * Beyond `capacity` values one goes that was not asked for since the last time it could have gone: close to the one
   * that was least recently used, and a hit moves nothing.
   */
  constructor(capacity: number, weights?: Weights<T>) {
    this.#capacity = capacity
    this.#weights = weights
  }

  /** From the next value on. */
  set capacity(capacity: number) {
    this.#capacity = capacity
  }

  /** The kept value at once, else a promise; a name without a value is asked for each time. */
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

  /** Whether nothing changed since the load began. */
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

  /** The value in front goes, or comes to the end where it was used: then it goes the next time. */
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

  forget(name: string): void {
    this.#drop(name)
    this.#loading.delete(name)
  }

  clear(): void {
    this.#values.clear()
    this.#weight = 0
    this.#loading.clear()
  }
}
