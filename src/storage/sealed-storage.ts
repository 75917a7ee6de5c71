// The store as the rooms above see it: values in clear here, ciphertext below. A view is bound to one scope and one
// folder, so an engine cannot reach what belongs to another.
import type { Barrier } from './barrier.ts'
import type { Entry, ListOptions, Reader, ReadStore, Scope, Store, Transaction } from './contract.ts'
import { Sealed, StorageReadOnly } from './errors.ts'
import { noteOwn, ownWrites } from './own-writes.ts'

/**
 * One folder of the store, for an engine: keys are relative to it, values are in clear. The methods do what those of
 * the same name in contract.ts do. Reading a value throws Sealed while the server is sealed. It throws StorageCorrupt
 * if the value does not open, since it is damaged or was stored under another key.
 */
export interface View {
  get(path: string): Promise<Buffer | undefined>
  list(path: string, options?: ListOptions): Promise<string[]>
  /**
   * Runs `work` as `Store.transaction` does.
   * @throws Sealed, or StorageReadOnly in a thread that does not write: the request is then forwarded and starts over
   */
  transaction<T>(work: (tx: ViewTransaction) => Promise<T>): Promise<T>
}

/** A transaction seen through one folder, with values in clear. Values that are read are the caller's to wipe. */
export interface ViewTransaction {
  get(path: string): Promise<Buffer | undefined>
  list(path: string, options?: ListOptions): Promise<string[]>
  scan(path: string, after: string, limit: number): Promise<Entry[]>
  /** Keys of the whole subtree. Values stay sealed, so entries that do not open can be removed too. */
  keys(path: string, after: string, limit: number): Promise<string[]>
  /** The value is sealed before this returns: the caller may wipe its buffer. */
  put(path: string, value: Buffer): void
  delete(path: string): void
}

/**
 * Runs first in each transaction of a view, on the raw store, and throws to forbid it: a mount that is being removed
 * takes no more writes. Since it reads in the transaction, a removal that begins meanwhile makes the transaction lose.
 */
export type Guard = (tx: Reader) => Promise<void>

/** Makes views of one store. Each thread has one, over the store and the barrier of that thread. */
export class SealedStorage {
  readonly #store: ReadStore
  readonly #writes: Store | undefined
  readonly barrier: Barrier

  /** `writes` is the same store again in the thread that writes, and undefined in every other. */
  constructor(store: ReadStore, barrier: Barrier, writes?: Store) {
    this.#store = store
    this.#writes = writes
    this.barrier = barrier
  }

  get writable(): boolean {
    return this.#writes !== undefined
  }

  /** A view of one folder. `folder` ends in '/' and begins with the scope's namespace. */
  view(scope: Scope, folder: string, guard?: Guard): View {
    const { barrier } = this
    const store = this.#store
    return {
      get: async (path) => opened(barrier, folder + path, await store.get(folder + path)),
      list: (path, options) => store.list(folder + path, options),
      transaction: (work) =>
        this.transaction(async (folders) => {
          await guard?.(folders.raw)
          return work(folders.at(scope, folder))
        }),
    }
  }

  /**
   * Runs `work` as `View.transaction` does, over as many folders as it opens: what it writes in them is one commit.
   * @throws Sealed or StorageReadOnly, like that
   */
  async transaction<T>(work: (folders: Folders) => Promise<T>): Promise<T> {
    const { barrier } = this
    const writes = this.#writes
    requireUnsealed(barrier)
    if (writes === undefined) throw new StorageReadOnly('This thread does not write')
    const opening = (raw: Transaction) =>
      work({ raw, at: (scope, folder) => sealedTransaction(barrier, scope, folder, raw) })
    const own = ownWrites.getStore()
    return own === undefined
      ? writes.transaction(opening)
      : noteOwn(own, (inside) => writes.transaction(inside), opening)
  }
}

/** The folders of one transaction. */
export type Folders = {
  /** Keys are whole and values as they are stored. */
  readonly raw: Reader
  /** One folder, as a view of it has it. */
  readonly at: (scope: Scope, folder: string) => ViewTransaction
}

/** @throws Sealed first of all: a sealed server does not say whether this thread writes */
function requireUnsealed(barrier: Barrier): void {
  if (barrier.sealed) throw new Sealed('The server is sealed')
}

function opened(barrier: Barrier, key: string, record: Buffer | undefined): Buffer | undefined {
  return record === undefined ? undefined : barrier.open(key, record)
}

/** A raw transaction seen through a folder. Made for several folders it lets them write in the same commit. */
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
