// What a login method tells of the caller it recognised. The pipeline makes the token: no method can.
import type { JsonObject } from '../lib/json.ts'
import { count, flag, group, oneOf, otherwise, texts, type ValueOf } from '../lib/member-kinds.ts'

/** The `token_*` fields of a role or user, as stored (Interface 2.2). Each with what it is where it was never set. */
export const TOKEN_SETTINGS = group({
  /** Seconds; 0: as the mount has it. */
  ttlSeconds: otherwise(count, 0),
  maxTtlSeconds: otherwise(count, 0),
  /** Seconds; 0: none. */
  explicitMaxTtlSeconds: otherwise(count, 0),
  periodSeconds: otherwise(count, 0),
  policies: otherwise(texts, []),
  /** Where logins may come from, and their tokens be used (lib/cidr.ts); empty: anywhere. */
  boundCidrs: otherwise(texts, []),
  noDefaultPolicy: otherwise(flag, false),
  /** 0: without limit. */
  numUses: otherwise(count, 0),
  type: otherwise(oneOf('default', 'service', 'batch'), 'default'),
})
export type TokenSettings = ValueOf<typeof TOKEN_SETTINGS>

/** Nothing was set. */
export const NO_TOKEN_SETTINGS: TokenSettings = TOKEN_SETTINGS.read({})

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
