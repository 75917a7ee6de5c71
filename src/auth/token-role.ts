// Token roles: what tokens made at auth/token/create/ROLE may be, whoever makes them.
//
//   root/sys/token-role/NAME
import { isJsonObject, parseStoredJson } from '../lib/json.ts'
import { systemScope } from '../storage/contract.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { SYSTEM_FOLDER } from './token-keys.ts'

export type RoleTokenType = 'service' | 'batch' | 'default-service' | 'default-batch'
export const ROLE_TOKEN_TYPES: readonly RoleTokenType[] = ['service', 'batch', 'default-service', 'default-batch']

export type TokenRole = {
  readonly format: 1
  readonly allowedPolicies: readonly string[]
  readonly disallowedPolicies: readonly string[]
  readonly allowedPoliciesGlob: readonly string[]
  readonly disallowedPoliciesGlob: readonly string[]
  readonly allowedEntityAliases: readonly string[]
  readonly orphan: boolean
  readonly renewable: boolean
  /** Stands behind the path of its tokens, so that they can be listed and revoked apart; empty: nothing does. */
  readonly pathSuffix: string
  readonly periodSeconds: number
  readonly explicitMaxTtlSeconds: number
  readonly boundCidrs: readonly string[]
  readonly tokenType: RoleTokenType
  readonly noDefaultPolicy: boolean
  readonly numUses: number
  /** Names without `token_` that it was written by: they are read back, too. */
  readonly oldNames: readonly OldName[]
}

export type OldName = 'period' | 'explicit_max_ttl' | 'bound_cidrs'

export const NEW_ROLE: TokenRole = {
  format: 1,
  allowedPolicies: [],
  disallowedPolicies: [],
  allowedPoliciesGlob: [],
  disallowedPoliciesGlob: [],
  allowedEntityAliases: [],
  orphan: false,
  renewable: true,
  pathSuffix: '',
  periodSeconds: 0,
  explicitMaxTtlSeconds: 0,
  boundCidrs: [],
  tokenType: 'default-service',
  noDefaultPolicy: false,
  numUses: 0,
  oldNames: [],
}

const FOLDER = `${SYSTEM_FOLDER}token-role/`

/** Read where tokens are made, on the thread that writes: nothing is cached. */
export class TokenRoles {
  readonly #view: View

  constructor(storage: SealedStorage) {
    this.#view = storage.view(systemScope, FOLDER)
  }

  async read(name: string): Promise<TokenRole | undefined> {
    const bytes = await this.#view.get(name)
    return bytes === undefined ? undefined : decodeRole(bytes)
  }

  /** `limit` 0: all. */
  async list(after: string, limit: number): Promise<string[]> {
    return this.#view.list('', { after, ...(limit > 0 ? { limit } : {}) })
  }

  /** Stores what `change` makes of the role as it is, or of a new one. */
  async write(name: string, change: (old: TokenRole) => TokenRole): Promise<void> {
    await this.#view.transaction(async (tx) => {
      const bytes = await tx.get(name)
      const role = change(bytes === undefined ? NEW_ROLE : decodeRole(bytes))
      tx.put(name, Buffer.from(JSON.stringify(role)))
    })
  }

  async delete(name: string): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(name))
  }
}

function decodeRole(bytes: Buffer): TokenRole {
  const value = parseStoredJson(bytes)
  if (!isJsonObject(value) || value.format !== 1) throw new Error('A token role has an unknown format')
  return { ...NEW_ROLE, ...value } as unknown as TokenRole
}
