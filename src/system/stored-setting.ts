// A setting of the server: kept in the store, and cached in memory from its first use until it changes:
//
//   root/sys/config/NAME      JSON, {"format":1, …}
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import type { StoredRecord } from '../storage/stored-record.ts'

/** One such setting as one thread has it. The cache is dropped by the change feed, so every thread sees a change. */
export class StoredSetting<T extends object> {
  readonly #view: View
  readonly #name: string
  readonly #record: StoredRecord<T>
  readonly #unset: T
  #known: T | undefined
  /** Counts invalidations. A read that began before one must not be cached: it may hold the old value. */
  #generation = 0

  /** `unset` is the value while nothing is stored. */
  constructor(
    storage: SealedStorage,
    invalidation: Invalidation,
    { name, record, unset }: { readonly name: string; readonly record: StoredRecord<T>; readonly unset: T },
  ) {
    this.#view = storage.view(systemScope, `${ROOT_NAMESPACE}/sys/config/`)
    this.#name = name
    this.#record = record
    this.#unset = unset
    const forget = (): void => {
      this.#known = undefined
      this.#generation++
    }
    invalidation.register({ prefix: `sys/config/${name}`, changed: forget, reset: forget })
  }

  /** The value. A promise only at the first read after a change: some settings are read for every request. */
  current(): T | Promise<T> {
    return this.#known ?? this.#load()
  }

  /** Reads the value, and caches it unless it changed during the read. */
  async #load(): Promise<T> {
    const generation = this.#generation
    const value = this.#decoded(await this.#view.get(this.#name))
    if (generation === this.#generation) this.#known = value
    return value
  }

  /** Stores what `change` returns for the stored value. It must have no other effect: a lost race runs it again. */
  async change(change: (before: T) => T): Promise<void> {
    await this.#view.transaction(async (tx) => {
      const after = change(this.#decoded(await tx.get(this.#name)))
      tx.put(this.#name, this.#record.encode(after))
    })
  }

  /** Goes back to `unset`. */
  async remove(): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(this.#name))
  }

  #decoded(bytes: Buffer | undefined): T {
    return bytes === undefined ? this.#unset : this.#record.decode(bytes)
  }
}
