// The managed keys in storage, and a cache of those in use:
//
//   root/sys/managed-key/pkcs11/NAME    the managed key
//   root/sys/managed-key/id/UUID        its name, for versions of transit keys, which refer to the UUID: it is unique
import { fail } from '../api/errors.ts'
import { CoherentCache } from '../lib/coherent-cache.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { decodeRecord, encodeRecord, type ManagedKeyRecord } from './managed-key-record.ts'

const BY_NAME = 'pkcs11/'
const BY_ID = 'id/'
/** Limit for managed keys, as each write of a new one lists all names; also the size of the cache. */
const MOST_KEYS = 1_000

/** Reads managed keys on any thread; writes and deletes on the thread that writes. */
export class ManagedKeyStore {
  readonly #view: View
  readonly #cache = new CoherentCache<ManagedKeyRecord>(MOST_KEYS)

  constructor(storage: SealedStorage, invalidation: Invalidation) {
    this.#view = storage.view(systemScope, `${ROOT_NAMESPACE}/sys/managed-key/`)
    const stale = (): void => this.#cache.clear()
    invalidation.register({ prefix: 'sys/managed-key/', changed: stale, reset: stale })
  }

  /** Returns all names, in order. */
  names(): Promise<string[]> {
    return this.#view.list(BY_NAME)
  }

  /** Returns the key of this name; undefined if there is none. @throws StorageCorrupt */
  async findByName(name: string): Promise<ManagedKeyRecord | undefined> {
    return this.#cache.get(BY_NAME + name, this.#load)
  }

  /** Returns the key with this UUID; undefined if there is none. @throws StorageCorrupt */
  async findById(id: string): Promise<ManagedKeyRecord | undefined> {
    return this.#cache.get(BY_ID + id, this.#loadById)
  }

  readonly #load = async (path: string): Promise<ManagedKeyRecord | undefined> => {
    const bytes = await this.#view.get(path)
    return bytes && decodeRecord(bytes)
  }

  readonly #loadById = async (path: string): Promise<ManagedKeyRecord | undefined> => {
    const name = await this.#view.get(path)
    return name && this.#load(BY_NAME + name.toString())
  }

  /**
   * Stores what `change` makes of the record that has the name, or of undefined if none has it.
   * @throws Refusal if there are too many; and what `change` throws
   */
  async write(
    name: string,
    change: (before: ManagedKeyRecord | undefined) => ManagedKeyRecord,
  ): Promise<ManagedKeyRecord> {
    return this.#view.transaction(async (tx) => {
      const bytes = await tx.get(BY_NAME + name)
      const record = change(bytes && decodeRecord(bytes))
      if (bytes === undefined && (await tx.list(BY_NAME)).length >= MOST_KEYS) {
        throw fail('limit_reached', [`There are ${MOST_KEYS} managed keys, which is the limit`])
      }
      tx.put(BY_NAME + name, encodeRecord(record))
      tx.put(BY_ID + record.uuid, Buffer.from(name))
      return record
    })
  }

  /** Deletes the record, if there is one; the key in the device stays. */
  async delete(name: string): Promise<void> {
    await this.#view.transaction(async (tx) => {
      const bytes = await tx.get(BY_NAME + name)
      if (bytes === undefined) return
      tx.delete(BY_NAME + name)
      tx.delete(BY_ID + decodeRecord(bytes).uuid)
    })
  }
}
