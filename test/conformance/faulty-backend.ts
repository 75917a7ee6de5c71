// A backend whose appends wait or fail when they are told to, as those of a device do.
import type { Backend } from '../../src/storage/backend.ts'

export class Faults {
  /** Thrown by the next append, which then writes nothing. */
  next: Error | undefined
  appends = 0
  #gate = Promise.withResolvers<void>()

  constructor() {
    this.release()
  }

  /** Appends that begin from now on wait until `release` before they write. */
  hold(): void {
    this.#gate = Promise.withResolvers()
  }

  release(): void {
    this.#gate.resolve()
  }

  released(): Promise<void> {
    return this.#gate.promise
  }
}

export function faultyBackend(backend: Backend, faults: Faults): Backend {
  return {
    get: (key) => backend.get(key),
    list: (prefix, after, limit) => backend.list(prefix, after, limit),
    scan: (prefix, after, limit) => backend.scan(prefix, after, limit),
    heads: (keys) => backend.heads(keys),
    position: () => backend.position(),
    records: (index, limit) => backend.records(index, limit),
    snapshot: () => backend.snapshot(),
    close: () => backend.close(),
    append: async (changes) => {
      faults.appends++
      await faults.released()
      const fault = faults.next
      faults.next = undefined
      if (fault !== undefined) throw fault
      await backend.append(changes)
    },
  }
}
