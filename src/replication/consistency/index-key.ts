// The key of X-Vault-Index. All clusters of a set share it, so each reads what another one made.
import type { KeyObject } from 'node:crypto'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { ROOT_NAMESPACE, systemScope } from '../../storage/contract.ts'
import type { Invalidation } from '../../storage/invalidation.ts'
import type { SealedStorage, View, ViewTransaction } from '../../storage/sealed-storage.ts'

const FOLDER = `${ROOT_NAMESPACE}/core/`
const NAME = 'index-key'
const BYTES = 32

/** Makes the key if there is none. `core` is the folder of the cluster. */
export async function addIndexKey(core: ViewTransaction, random: { bytes(count: number): Buffer }): Promise<void> {
  if ((await core.get(NAME)) !== undefined) return
  const key = random.bytes(BYTES)
  core.put(NAME, key)
  key.fill(0)
}

/** The key as one thread has it: from its first use until it changes or the server is sealed. */
export class IndexKey {
  readonly #view: View
  #key: KeyObject | undefined
  /** How often it was forgotten. A key that was read before that is not kept. */
  #forgotten = 0

  constructor(storage: SealedStorage, invalidation: Invalidation) {
    this.#view = storage.view(systemScope, FOLDER)
    const forget = (): void => {
      this.#key = undefined
      this.#forgotten++
    }
    invalidation.register({ prefix: `core/${NAME}`, changed: forget, reset: forget })
  }

  /** Undefined if the cluster has none. A promise only if it is not in memory. @throws Sealed */
  get(): KeyObject | Promise<KeyObject | undefined> {
    return this.#key ?? this.#load()
  }

  async #load(): Promise<KeyObject | undefined> {
    const before = this.#forgotten
    const bytes = await this.#view.get(NAME)
    if (bytes === undefined) return undefined
    const key = importSecret(bytes)
    bytes.fill(0)
    if (before === this.#forgotten) this.#key = key
    return key
  }
}
