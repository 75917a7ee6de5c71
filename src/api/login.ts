// What a login method tells of the caller it recognised. The pipeline makes the token: no method can.
import type { JsonObject } from '../lib/json.ts'

/** The `token_*` fields of a role or user, as stored (Interface 2.2). */
export type TokenSettings = {
  /** Seconds; 0: as the mount has it. */
  readonly ttlSeconds: number
  readonly maxTtlSeconds: number
  /** Seconds; 0: none. */
  readonly explicitMaxTtlSeconds: number
  readonly periodSeconds: number
  readonly policies: readonly string[]
  /** Where logins may come from, and their tokens be used (lib/cidr.ts); empty: anywhere. */
  readonly boundCidrs: readonly string[]
  readonly noDefaultPolicy: boolean
  /** 0: without limit. */
  readonly numUses: number
  readonly type: 'default' | 'service' | 'batch'
}

/** The caller's name within its mount: with it the same caller is the same entity. */
export type LoginAlias = { readonly name: string; readonly metadata: Readonly<Record<string, string>> }

export type Login = {
  /** For people and logs; the mount's path is put before it. */
  readonly displayName: string
  readonly settings: TokenSettings
  /** Names and texts kept with the token. */
  readonly metadata: Readonly<Record<string, string>>
  /** Undefined: no entity belongs to it. */
  readonly alias: LoginAlias | undefined
  /** Names of the groups that the method says the caller is in. */
  readonly groups: readonly string[]
  /** Kept with the token and handed to `renewLogin`; no secret. */
  readonly renewal: JsonObject
}
