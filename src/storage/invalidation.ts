// Which cache must forget what when a stored key changes. Every cache registers here; the writer's own commits and
// the changes read from the log of another thread go through the same table (and, later, those of other nodes).
import { strict as assert } from 'node:assert'

export type Invalidator = {
  /** Beginning of the stored key, after the namespace. */
  readonly prefix: string
  /** Gets the rest of the key behind the prefix. */
  readonly changed: (rest: string, key: string) => void
  /** Everything may have changed. */
  readonly reset: () => void
}

export class Invalidation {
  readonly #invalidators: Invalidator[] = []

  register(invalidator: Invalidator): void {
    assert(invalidator.prefix !== '')
    this.#invalidators.push(invalidator)
  }

  /** `key` is a stored key: namespace, '/', path. */
  changed(key: string): void {
    const path = key.slice(key.indexOf('/') + 1)
    for (const { prefix, changed } of this.#invalidators) {
      if (path.startsWith(prefix)) changed(path.slice(prefix.length), key)
    }
  }

  reset(): void {
    for (const invalidator of this.#invalidators) invalidator.reset()
  }
}
