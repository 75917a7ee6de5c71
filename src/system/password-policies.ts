// Password policies by name, as they were written:
//
//   root/sys/password-policy/NAME      JSON, {"format":1,"text":…}
import { isJsonObject, parseStoredJson } from '../lib/json.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'

export class PasswordPolicies {
  readonly #view: View

  constructor(storage: SealedStorage) {
    this.#view = storage.view(systemScope, `${ROOT_NAMESPACE}/sys/password-policy/`)
  }

  async find(name: string): Promise<string | undefined> {
    const bytes = await this.#view.get(name)
    if (bytes === undefined) return undefined
    const stored = parseStoredJson(bytes)
    if (!isJsonObject(stored) || stored.format !== 1 || typeof stored.text !== 'string')
      throw new Error('A password policy has an unknown format')
    return stored.text
  }

  async put(name: string, text: string): Promise<void> {
    await this.#view.transaction(async (tx) => tx.put(name, Buffer.from(JSON.stringify({ format: 1, text }))))
  }

  async delete(name: string): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(name))
  }

  /** Sorted; `limit` 0: all. */
  list(after: string, limit: number): Promise<string[]> {
    return this.#view.list('', { after, ...(limit > 0 ? { limit } : {}) })
  }
}
