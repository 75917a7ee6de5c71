// Stored password policies, each under its name and in the text that was written:
//
//   root/sys/password-policy/NAME      JSON, {"format":1,"text":…}
import { text as textKind } from '../lib/member-kinds.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { storedRecord } from '../storage/stored-record.ts'

/** Keeps the text, not the parsed rules: a read gives back what was written, comments included. */
export const PASSWORD_POLICY = storedRecord('A password policy', { text: textKind })

/** The password policies of this server. Callers parse a text before they store it; nothing here looks into it. */
export class PasswordPolicies {
  readonly #view: View

  constructor(storage: SealedStorage) {
    this.#view = storage.view(systemScope, `${ROOT_NAMESPACE}/sys/password-policy/`)
  }

  async find(name: string): Promise<string | undefined> {
    const bytes = await this.#view.get(name)
    return bytes === undefined ? undefined : PASSWORD_POLICY.decode(bytes).text
  }

  async put(name: string, text: string): Promise<void> {
    await this.#view.transaction(async (tx) => tx.put(name, PASSWORD_POLICY.encode({ text })))
  }

  async delete(name: string): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(name))
  }

  /** Names in order, those behind `after`; at most `limit`, and all for 0. */
  list(after: string, limit: number): Promise<string[]> {
    return this.#view.list('', { after, ...(limit > 0 ? { limit } : {}) })
  }
}
