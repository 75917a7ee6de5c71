// A login method's report of the caller that it recognised. The pipeline makes the token; no method can.
import type { JsonObject } from '../lib/json.ts'
import { count, flag, group, oneOf, otherwise, texts, type ValueOf } from '../lib/member-kinds.ts'

/** The `token_*` fields of a role or user, as stored (Interface 2.2), each with its value if it was never set. */
export const TOKEN_SETTINGS = group({
  /** Seconds; 0: the default of the mount. */
  ttlSeconds: otherwise(count, 0),
  maxTtlSeconds: otherwise(count, 0),
  /** Seconds; 0: none. */
  explicitMaxTtlSeconds: otherwise(count, 0),
  periodSeconds: otherwise(count, 0),
  policies: otherwise(texts, []),
  /** Address blocks that logins may come from and tokens may be used from (lib/cidr.ts); empty: anywhere. */
  boundCidrs: otherwise(texts, []),
  noDefaultPolicy: otherwise(flag, false),
  /** Requests that a token may make; 0: no limit. */
  numUses: otherwise(count, 0),
  type: otherwise(oneOf('default', 'service', 'batch'), 'default'),
})
/** The fields as the program has them. */
export type TokenSettings = ValueOf<typeof TOKEN_SETTINGS>

/** The settings of a role or user that sets none. */
export const NO_TOKEN_SETTINGS: TokenSettings = TOKEN_SETTINGS.read({})

/** The caller's name within its mount, by which the same caller becomes the same entity. */
export type LoginAlias = { readonly name: string; readonly metadata: Readonly<Record<string, string>> }

/** The half of a login that concerns the set. */
export type WantedEntity =
  /** The entity that has this alias at a shared mount, which has this UUID. It is made if there is none. */
  | { readonly of: 'set'; readonly mount: string; readonly alias: LoginAlias }
  /**
   * An entity whose alias the asking cluster keeps: the one with this ID, or a new one of the namespace if there is
   * none.
   */
  | { readonly of: 'cluster'; readonly namespace: string; readonly entityId: string }

/** What the half of a login that concerns the set tells the half of the cluster. */
export type EnsuredEntity = {
  readonly entityId: string
  /** The stamp of the alias, which the groups of the login bear; empty if it has none, or if its mount is local. */
  readonly aliasStamp: string
}

/** A recognised caller, and what its token is to be like. */
export type Login = {
  /** Name for people and logs; the mount's path is put before it. */
  readonly displayName: string
  readonly settings: TokenSettings
  /** Names and texts kept with the token. */
  readonly metadata: Readonly<Record<string, string>>
  /** Undefined if the caller gets no entity. */
  readonly alias: LoginAlias | undefined
  /** Names of the groups that the method says the caller is in. */
  readonly groups: readonly string[]
  /** Kept with the token and handed to `renewLogin`; no secret. */
  readonly renewal: JsonObject
}
