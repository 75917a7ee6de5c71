// Stored password policies, each under its namespace's id and its name, in the text that was written:
//
//   NAMESPACE/sys/password-policy/NAME      JSON, {"format":1,"text":…}
import type { Namespaces } from '../api/namespace.ts'
import { text as textKind } from '../lib/member-kinds.ts'
import { unlessGoing } from '../namespaces/namespace-store.ts'
import { scopeOfNamespace } from '../namespaces/records.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { storedRecord } from '../storage/stored-record.ts'

/** Keeps the text, not the parsed rules: a read gives back what was written, comments included. */
export const PASSWORD_POLICY = storedRecord('A password policy', { text: textKind })

/** The password policies of all namespaces. Callers parse a text before they store it; nothing here looks into it. */
export class PasswordPolicies {
  readonly #storage: Pick<SealedStorage, 'view'>
  readonly #namespaces: Namespaces

  constructor(storage: Pick<SealedStorage, 'view'>, namespaces: Namespaces) {
    this.#storage = storage
    this.#namespaces = namespaces
  }

  #viewOf(namespaceId: string): View {
    const guard = unlessGoing(this.#namespaces, namespaceId)
    return this.#storage.view(scopeOfNamespace(namespaceId), `${namespaceId}/sys/password-policy/`, guard)
  }

  async find(namespaceId: string, name: string): Promise<string | undefined> {
    const bytes = await this.#viewOf(namespaceId).get(name)
    return bytes === undefined ? undefined : PASSWORD_POLICY.decode(bytes).text
  }

  async put(namespaceId: string, name: string, text: string): Promise<void> {
    await this.#viewOf(namespaceId).transaction(async (tx) => tx.put(name, PASSWORD_POLICY.encode({ text })))
  }

  async delete(namespaceId: string, name: string): Promise<void> {
    await this.#viewOf(namespaceId).transaction(async (tx) => tx.delete(name))
  }

  /** Names in order, those behind `after`; at most `limit`, and all for 0. */
  list(namespaceId: string, after: string, limit: number): Promise<string[]> {
    return this.#viewOf(namespaceId).list('', { after, ...(limit > 0 ? { limit } : {}) })
  }
}
