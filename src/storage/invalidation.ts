// Tells caches to forget entries that changed. Each cache of stored values registers here. The writer's own commits go
// through this table, and so do the changes that a thread reads from the log.
import { strict as assert } from 'node:assert'

/** One cache, and the stored keys that it is made from. Its functions must not throw. */
export type Invalidator = {
  /** Beginning of the stored keys, after the namespace; not empty. */
  readonly prefix: string
  /** Called for each changed key with this prefix; `rest` is what follows the prefix. */
  readonly changed: (rest: string, key: string) => void
  /** Called when everything may have changed: at seal, after a restore, when the log no longer reaches back. */
  readonly reset: () => void
}

/** The caches of one node, as one thread has it. */
export class Invalidation {
  readonly #invalidators: Invalidator[] = []

  register(invalidator: Invalidator): void {
    assert(invalidator.prefix !== '')
    this.#invalidators.push(invalidator)
  }

  /** The beginnings of keys that some cache is made from. */
  get prefixes(): readonly string[] {
    return [...new Set(this.#invalidators.map(({ prefix }) => prefix))]
  }

  /** Tells the caches of a changed key. `key` is a stored key: namespace, '/', path. */
  changed(key: string): void {
    const path = key.slice(key.indexOf('/') + 1)
    for (const { prefix, changed } of this.#invalidators) {
      if (path.startsWith(prefix)) changed(path.slice(prefix.length), key)
    }
  }

  /** Empties all caches. */
  reset(): void {
    for (const invalidator of this.#invalidators) invalidator.reset()
  }
}
