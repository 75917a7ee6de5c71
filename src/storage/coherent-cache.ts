// A cache of what was read from storage. Whoever changes the store tells it which key changed; a load that was under
// way then is not kept, so nothing older than the last change is ever served.
export class CoherentCache<T> {
  readonly #entries = new Map<string, T | Promise<T>>()
  readonly #capacity: number

  /** Beyond `capacity` entries the oldest one goes. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** The kept value at once, or a promise of it: the caller that finds it kept does not wait. Undefined is not kept. */
  get(key: string, load: (key: string) => Promise<T>): T | Promise<T> {
    const kept = this.#entries.get(key)
    return kept === undefined ? this.#load(key, load) : kept
  }

  #load(key: string, load: (key: string) => Promise<T>): Promise<T> {
    const loading = load(key).then(
      (value) => {
        if (this.#entries.get(key) === loading) {
          if (value === undefined) this.#entries.delete(key)
          else this.#entries.set(key, value)
        }
        return value
      },
      (cause: unknown) => {
        if (this.#entries.get(key) === loading) this.#entries.delete(key)
        throw cause
      },
    )
    if (this.#entries.size >= this.#capacity) {
      const oldest = this.#entries.keys().next()
      if (oldest.done !== true) this.#entries.delete(oldest.value)
    }
    this.#entries.set(key, loading)
    return loading
  }

  forget(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}
