// The stored entry of a token, without its text. Times are absolute, so that no token lives longer because the server
// was stopped.
import { ROOT_ID } from '../api/namespace.ts'
import type { AuthBlock } from '../api/request.ts'
import {
  byMember,
  count,
  flag,
  group,
  integer,
  mapOf,
  nullable,
  object,
  oneOf,
  optional,
  otherwise,
  text,
  texts,
  type ValueOf,
} from '../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'
import { type IdentityPolicies, NO_IDENTITY_POLICIES } from './subject.ts'
import { ROOT_TOKEN_PATH } from './token-keys.ts'

/** The login that a token came from: what renewal hands to the login method. */
const LOGIN_ORIGIN = group({ mountUuid: text, renewal: object })
/** The mount of a login, and what its method needs to judge a renewal. */
export type LoginOrigin = ValueOf<typeof LOGIN_ORIGIN>

/** The entry of a token. Batch tokens have the same entry, sealed in their text (batch-tokens.ts). */
export const TOKEN_ENTRY = storedRecord('A token entry', {
  format: oneOf(1),
  namespace: text,
  accessor: text,
  policies: texts,
  /** Path of the request that made it; its lease is listed there. */
  path: text,
  displayName: text,
  meta: nullable(mapOf(text)),
  /** Storage id of the parent token; empty for an orphan. */
  parent: text,
  createdAtMs: count,
  /** 0 for a token that never expires. */
  creationTtlSeconds: count,
  explicitMaxTtlSeconds: count,
  periodSeconds: count,
  renewable: flag,
  expiry: byMember({ atMs: group({ atMs: count }), never: group({ never: oneOf(true) }) }),
  lastRenewalAtMs: nullable(count),
  /** Requests left; 0: unlimited; -1: the last one is being served. */
  numUses: integer({ min: -1 }),
  /** The number of uses it was made with; absent until its first counted use. */
  usesGiven: optional(count),
  // The members below are missing in entries that older versions stored.
  /** A batch token is not stored: its text holds all of this, sealed. */
  type: otherwise(oneOf('service', 'batch'), 'service'),
  /** Id of the entity behind the token; empty if there is none. */
  entityId: otherwise(text, ''),
  /** Addresses it may be used from (lib/cidr.ts); empty: all. */
  boundCidrs: otherwise(texts, []),
  /** The token role it was made by; empty: none. */
  role: otherwise(text, ''),
  /** Set if a login gave the token; null if another token made it. */
  login: otherwise(nullable(LOGIN_ORIGIN), null),
  /**
   * UUID of the mount whose answer it wraps: the path says where that was, and a mount may move. Absent: none, or one
   * that every server has.
   */
  answerOf: optional(text),
})
/** A decoded token entry. Entries are shared through the cache, so they are never changed in place. */
export type TokenEntry = RecordOf<typeof TOKEN_ENTRY>

/**
 * True if a mount of these UUIDs gave the token, by a login or to wrap an answer. Undefined: the entry does not say so.
 * It is then of another token, or an older version made it to wrap an answer, and only the path tells.
 */
export function isGivenBy(isOne: (uuid: string) => boolean, entry: TokenEntry): boolean | undefined {
  const giver = giverOf(entry)
  return giver === undefined ? undefined : isOne(giver)
}

/** UUID of the mount that gave the token, if the entry says so. */
export const giverOf = ({ login, answerOf }: TokenEntry): string | undefined => login?.mountUuid ?? answerOf

/** The bytes of an entry, as they are stored inside the barrier. */
export const encodeTokenEntry = TOKEN_ENTRY.encode
/** The entry of stored bytes. @throws StorageCorrupt if they are not one. */
export const decodeTokenEntry = TOKEN_ENTRY.decode

/** True if the token has ended. The clock decides at every use; timers only clean up (threats P-27). */
export function isExpired(entry: TokenEntry, nowMs: number): boolean {
  return 'atMs' in entry.expiry && entry.expiry.atMs <= nowMs
}

/** Returns whole seconds left; 0 for a token that never expires. */
export function remainingSeconds(entry: TokenEntry, nowMs: number): number {
  return 'atMs' in entry.expiry ? Math.max(0, Math.floor((entry.expiry.atMs - nowMs) / 1000)) : 0
}

/** True if the token may do everything. `root` is then its only policy; only tokens of the root namespace have it. */
export const isRoot = (entry: TokenEntry): boolean => entry.policies.includes('root') && entry.namespace === ROOT_ID

/** Returns the `auth` part of an answer that hands out or renews this token. */
export function authBlock(
  token: string,
  entry: TokenEntry,
  nowMs: number,
  identityPolicies: IdentityPolicies = NO_IDENTITY_POLICIES,
): AuthBlock {
  return {
    client_token: token,
    accessor: entry.accessor,
    policies: united(entry.policies, identityPolicies.identity),
    token_policies: entry.policies,
    ...shown(identityPolicies),
    metadata: entry.meta,
    lease_duration: remainingSeconds(entry, nowMs),
    renewable: entry.renewable,
    entity_id: entry.entityId,
    token_type: entry.type,
    orphan: entry.parent === '',
    mfa_requirement: null,
    num_uses: entry.numUses,
  }
}

const united = (own: readonly string[], others: readonly string[]): readonly string[] =>
  others.length === 0 ? own : [...new Set([...own, ...others])].sort()

/** Policies by identity, as answers have them: null beside those of other namespaces alone. */
function shown({ identity, external }: IdentityPolicies): ShownPolicies {
  if (external.length === 0) return identity.length === 0 ? {} : { identity_policies: identity }
  return {
    identity_policies: identity.length === 0 ? null : identity,
    external_namespace_policies: Object.fromEntries(external.map(({ namespaceId, names }) => [namespaceId, names])),
  }
}

type ShownPolicies = Pick<AuthBlock, 'identity_policies' | 'external_namespace_policies'>

/** What look-up shows of a token besides its entry. */
export type ShownBeside = {
  readonly nowMs: number
  /** '' in the root. */
  readonly namespacePath: string
  readonly identity: IdentityPolicies
}

/** Returns what look-up shows. `token` is the text if the caller gave it, otherwise empty. */
export function tokenInfo(
  token: string,
  entry: TokenEntry,
  { nowMs, namespacePath, identity }: ShownBeside,
): Record<string, unknown> {
  const iso = (ms: number) => new Date(ms).toISOString()
  // Recorded exchanges leave out issue time and renewability for one kind only: the root tokens of initialisation and
  // generate-root.
  const isLeased = 'atMs' in entry.expiry || entry.path !== ROOT_TOKEN_PATH
  return {
    accessor: entry.accessor,
    ...(entry.boundCidrs.length === 0 ? {} : { bound_cidrs: entry.boundCidrs }),
    creation_time: Math.floor(entry.createdAtMs / 1000),
    creation_ttl: entry.creationTtlSeconds,
    display_name: entry.displayName,
    entity_id: entry.entityId,
    expire_time: 'atMs' in entry.expiry ? iso(entry.expiry.atMs) : null,
    explicit_max_ttl: entry.explicitMaxTtlSeconds,
    id: token,
    ...shown(identity),
    ...(isLeased ? { issue_time: iso(entry.createdAtMs) } : {}),
    ...(entry.lastRenewalAtMs === null
      ? {}
      : { last_renewal: iso(entry.lastRenewalAtMs), last_renewal_time: Math.floor(entry.lastRenewalAtMs / 1000) }),
    meta: entry.meta,
    ...(namespacePath === '' ? {} : { namespace_path: namespacePath }),
    num_uses: entry.numUses,
    orphan: entry.parent === '',
    path: entry.path,
    ...(entry.periodSeconds === 0 ? {} : { period: entry.periodSeconds }),
    policies: entry.policies,
    ...(isLeased ? { renewable: entry.renewable } : {}),
    ...(entry.role === '' ? {} : { role: entry.role }),
    ttl: remainingSeconds(entry, nowMs),
    type: entry.type,
  }
}
