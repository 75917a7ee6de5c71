// Token roles: what tokens made at auth/token/create/ROLE may be, whoever makes them.
//
//   root/sys/token-role/NAME
import { count, flag, listOf, oneOf, otherwise, text, texts, type ValueOf } from '../lib/member-kinds.ts'
import { systemScope } from '../storage/contract.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'
import { SYSTEM_FOLDER } from './token-keys.ts'

export type RoleTokenType = 'service' | 'batch' | 'default-service' | 'default-batch'
export const ROLE_TOKEN_TYPES: readonly RoleTokenType[] = ['service', 'batch', 'default-service', 'default-batch']

const OLD_NAME = oneOf('period', 'explicit_max_ttl', 'bound_cidrs')
export type OldName = ValueOf<typeof OLD_NAME>

const FALSE = otherwise(flag, false)
const NONE = otherwise(texts, [])
const ZERO = otherwise(count, 0)

/** Each member with what it is in a new role. */
export const TOKEN_ROLE = storedRecord('A token role', {
  format: otherwise(oneOf(1), 1),
  allowedPolicies: NONE,
  disallowedPolicies: NONE,
  allowedPoliciesGlob: NONE,
  disallowedPoliciesGlob: NONE,
  allowedEntityAliases: NONE,
  orphan: FALSE,
  renewable: otherwise(flag, true),
  /** Stands behind the path of its tokens, so that they can be listed and revoked apart; empty: nothing does. */
  pathSuffix: otherwise(text, ''),
  periodSeconds: ZERO,
  explicitMaxTtlSeconds: ZERO,
  boundCidrs: NONE,
  tokenType: otherwise(oneOf(...ROLE_TOKEN_TYPES), 'default-service'),
  noDefaultPolicy: FALSE,
  numUses: ZERO,
  /** Names without `token_` that it was written by: they are read back, too. */
  oldNames: otherwise(listOf(OLD_NAME), []),
})
export type TokenRole = RecordOf<typeof TOKEN_ROLE>

export const NEW_ROLE: TokenRole = TOKEN_ROLE.kind.read({})

const FOLDER = `${SYSTEM_FOLDER}token-role/`

/** Read where tokens are made, on the thread that writes: nothing is cached. */
export class TokenRoles {
  readonly #view: View

  constructor(storage: SealedStorage) {
    this.#view = storage.view(systemScope, FOLDER)
  }

  async read(name: string): Promise<TokenRole | undefined> {
    const bytes = await this.#view.get(name)
    return bytes === undefined ? undefined : TOKEN_ROLE.decode(bytes)
  }

  /** `limit` 0: all. */
  async list(after: string, limit: number): Promise<string[]> {
    return this.#view.list('', { after, ...(limit > 0 ? { limit } : {}) })
  }

  /** Stores what `change` makes of the role as it is, or of a new one. */
  async write(name: string, change: (old: TokenRole) => TokenRole): Promise<void> {
    await this.#view.transaction(async (tx) => {
      const bytes = await tx.get(name)
      const role = change(bytes === undefined ? NEW_ROLE : TOKEN_ROLE.decode(bytes))
      tx.put(name, TOKEN_ROLE.encode(role))
    })
  }

  async delete(name: string): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(name))
  }
}
