// Token roles: what tokens made at auth/token/create/ROLE may be, independent of who makes them.
//
//   NAMESPACE/sys/token-role/NAME
import type { Namespace } from '../api/namespace.ts'
import { count, flag, listOf, oneOf, otherwise, text, texts, type ValueOf } from '../lib/member-kinds.ts'
import { requireAlive } from '../namespaces/namespace-store.ts'
import { scopeOfNamespace } from '../namespaces/records.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'

/** The type of a role's tokens. The `default-` types leave the choice to the request. */
export type RoleTokenType = 'service' | 'batch' | 'default-service' | 'default-batch'
/** All of them, in the order in which refusals list them. */
export const ROLE_TOKEN_TYPES: readonly RoleTokenType[] = ['service', 'batch', 'default-service', 'default-batch']

const OLD_NAME = oneOf('period', 'explicit_max_ttl', 'bound_cidrs')
/** A setting's name without `token_`, as older clients send it. */
export type OldName = ValueOf<typeof OLD_NAME>

const FALSE = otherwise(flag, false)
const NONE = otherwise(texts, [])
const ZERO = otherwise(count, 0)

/** A stored role. Each member defaults to its value in a new role. */
export const TOKEN_ROLE = storedRecord('A token role', {
  format: otherwise(oneOf(1), 1),
  allowedPolicies: NONE,
  disallowedPolicies: NONE,
  allowedPoliciesGlob: NONE,
  disallowedPoliciesGlob: NONE,
  allowedEntityAliases: NONE,
  orphan: FALSE,
  renewable: otherwise(flag, true),
  /** Follows the path of the role's tokens, so that they can be listed and revoked apart; empty: nothing does. */
  pathSuffix: otherwise(text, ''),
  periodSeconds: ZERO,
  explicitMaxTtlSeconds: ZERO,
  boundCidrs: NONE,
  tokenType: otherwise(oneOf(...ROLE_TOKEN_TYPES), 'default-service'),
  noDefaultPolicy: FALSE,
  numUses: ZERO,
  /** Settings that were written by their old name, and so are read back under both. */
  oldNames: otherwise(listOf(OLD_NAME), []),
})
/** A role of auth/token: rules for tokens that are made under its name. */
export type TokenRole = RecordOf<typeof TOKEN_ROLE>

/** A role before its first write: every member has its default. */
export const NEW_ROLE: TokenRole = TOKEN_ROLE.kind.read({})

const placeOf = (namespaceId: string) => ({
  scope: scopeOfNamespace(namespaceId),
  folder: `${namespaceId}/sys/token-role/`,
})

/**
 * The store of the token roles of all namespaces. Roles are read where tokens are made, on the writing thread, so
 * nothing is cached.
 */
export class TokenRoles {
  readonly #storage: SealedStorage

  constructor(storage: SealedStorage) {
    this.#storage = storage
  }

  #viewOf(namespaceId: string): View {
    const { scope, folder } = placeOf(namespaceId)
    return this.#storage.view(scope, folder)
  }

  /** Returns the role, or undefined. */
  async read(namespaceId: string, name: string): Promise<TokenRole | undefined> {
    const bytes = await this.#viewOf(namespaceId).get(name)
    return bytes === undefined ? undefined : TOKEN_ROLE.decode(bytes)
  }

  /** Returns names in order, after `after`; a `limit` of 0 means all. */
  async list(namespaceId: string, after: string, limit: number): Promise<string[]> {
    return this.#viewOf(namespaceId).list('', { after, ...(limit > 0 ? { limit } : {}) })
  }

  /** Stores what `change` makes of the present role, or of a new one. `change` may throw to refuse. */
  async write(namespace: Namespace, name: string, change: (old: TokenRole) => TokenRole): Promise<void> {
    const { scope, folder } = placeOf(namespace.id)
    await this.#storage
      .view(scope, folder, (raw) => requireAlive(raw, namespace))
      .transaction(async (tx) => {
        const bytes = await tx.get(name)
        const role = change(bytes === undefined ? NEW_ROLE : TOKEN_ROLE.decode(bytes))
        tx.put(name, TOKEN_ROLE.encode(role))
      })
  }

  /** Deletes the role; its tokens stay. */
  async delete(namespaceId: string, name: string): Promise<void> {
    await this.#viewOf(namespaceId).transaction(async (tx) => tx.delete(name))
  }
}
