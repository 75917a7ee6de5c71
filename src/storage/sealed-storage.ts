// The store as the rooms above see it: values in clear here, ciphertext below. A view is bound to one scope, so that
// an engine cannot reach, or name, what belongs to another.
import type { Barrier } from './barrier.ts'
import type { Entry, ListOptions, Reader, ReadStore, Scope, Store, Transaction } from './contract.ts'
import { Sealed, StorageReadOnly } from './contract.ts'

/** What an engine is given: keys relative to its own folder. */
export interface View {
  get(path: string): Promise<Buffer | undefined>
  list(path: string, options?: ListOptions): Promise<string[]>
  /** @throws StorageReadOnly where this process cannot write; the request then travels and runs anew */
  transaction<T>(work: (tx: ViewTransaction) => Promise<T>): Promise<T>
}

export interface ViewTransaction {
  get(path: string): Promise<Buffer | undefined>
  list(path: string, options?: ListOptions): Promise<string[]>
  scan(path: string, after: string, limit: number): Promise<Entry[]>
  /** Keys of the whole subtree: what is removed unread need not open. */
  keys(path: string, after: string, limit: number): Promise<string[]>
  /** Sealed before it returns: the caller may wipe its buffer. */
  put(path: string, value: Buffer): void
  delete(path: string): void
}

/** Runs first in each transaction of a view, on the raw store: throws to forbid it (a mount that is being removed). */
export type Guard = (tx: Reader) => Promise<void>

export class SealedStorage {
  readonly #store: ReadStore
  readonly #writes: Store | undefined
  readonly barrier: Barrier

  /** `writes`: the same store, where this thread is the one that writes. */
  constructor(store: ReadStore, barrier: Barrier, writes?: Store) {
    this.#store = store
    this.#writes = writes
    this.barrier = barrier
  }

  get writable(): boolean {
    return this.#writes !== undefined
  }

  /** `folder` ends in '/' and begins with the scope's namespace. */
  view(scope: Scope, folder: string, guard?: Guard): View {
    const { barrier } = this
    const store = this.#store
    const writes = this.#writes
    return {
      get: async (path) => opened(barrier, folder + path, await store.get(folder + path)),
      list: (path, options) => store.list(folder + path, options),
      transaction: async (work) => {
        requireUnsealed(barrier)
        if (writes === undefined) throw new StorageReadOnly('This thread does not write')
        return writes.transaction(async (tx) => {
          await guard?.(tx)
          return work(sealedTransaction(barrier, scope, folder, tx))
        })
      },
    }
  }
}

/** @throws Sealed before anything else is said */
function requireUnsealed(barrier: Barrier): void {
  if (barrier.sealed) throw new Sealed('The server is sealed')
}

function opened(barrier: Barrier, key: string, record: Buffer | undefined): Buffer | undefined {
  return record === undefined ? undefined : barrier.open(key, record)
}

/** One raw transaction seen through a folder: several views can write in the same commit. */
export function sealedTransaction(barrier: Barrier, scope: Scope, folder: string, tx: Transaction): ViewTransaction {
  return {
    get: async (path) => opened(barrier, folder + path, await tx.get(folder + path)),
    list: (path, options) => tx.list(folder + path, options),
    scan: async (path, after, limit) => {
      const entries = await tx.scan(folder + path, after === '' ? '' : folder + after, limit)
      return entries.map(({ key, value }) => ({ key: key.slice(folder.length), value: barrier.open(key, value) }))
    },
    keys: async (path, after, limit) => {
      const entries = await tx.scan(folder + path, after === '' ? '' : folder + after, limit)
      return entries.map(({ key }) => key.slice(folder.length))
    },
    put: (path, value) => tx.put(scope, folder + path, barrier.seal(folder + path, value)),
    delete: (path) => tx.delete(scope, folder + path),
  }
}
