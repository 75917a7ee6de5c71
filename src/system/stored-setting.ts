// A setting that is kept in the store, and in memory from its first use until it changes:
//
//   root/sys/config/NAME      JSON, {"format":1, …}
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import type { StoredRecord } from '../storage/stored-record.ts'

export class StoredSetting<T extends object> {
  readonly #view: View
  readonly #name: string
  readonly #record: StoredRecord<T>
  readonly #unset: T
  #known: T | undefined
  /** Grows with every change: what was read before it is not kept. */
  #generation = 0

  /** `unset`: what counts where nothing is stored. */
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

  /** Waits only where it was not read since it changed. */
  current(): T | Promise<T> {
    return this.#known ?? this.#load()
  }

  async #load(): Promise<T> {
    const generation = this.#generation
    const value = this.#decoded(await this.#view.get(this.#name))
    if (generation === this.#generation) this.#known = value
    return value
  }

  /** Replaces it by what `change` makes of the value that is stored. */
  async change(change: (before: T) => T): Promise<void> {
    await this.#view.transaction(async (tx) => {
      const after = change(this.#decoded(await tx.get(this.#name)))
      tx.put(this.#name, this.#record.encode(after))
    })
  }

  async remove(): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(this.#name))
  }

  #decoded(bytes: Buffer | undefined): T {
    return bytes === undefined ? this.#unset : this.#record.decode(bytes)
  }
}
