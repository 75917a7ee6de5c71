// What is stored of a token: never its text. Times are absolute, so that a stopped server lets nothing live longer.
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
import { ROOT_TOKEN_PATH } from './token-keys.ts'

/** What renewal asks the login method about. */
const LOGIN_ORIGIN = group({ mountUuid: text, renewal: object })
export type LoginOrigin = ValueOf<typeof LOGIN_ORIGIN>

export const TOKEN_ENTRY = storedRecord('A token entry', {
  format: oneOf(1),
  namespace: text,
  accessor: text,
  policies: texts,
  /** Request path that made it. */
  path: text,
  displayName: text,
  meta: nullable(mapOf(text)),
  /** Storage name of the parent token; empty for an orphan. */
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
  /** Those that it was made with, from its first limited use on. */
  usesGiven: optional(count),
  // What follows entries that older versions stored do not hold.
  /** A batch token is not stored: its text holds all this, sealed. */
  type: otherwise(oneOf('service', 'batch'), 'service'),
  /** Who is behind it; empty: nobody in particular. */
  entityId: otherwise(text, ''),
  /** Addresses that it may be used from (lib/cidr.ts); empty: all. */
  boundCidrs: otherwise(texts, []),
  /** The token role that it was made by; empty: none. */
  role: otherwise(text, ''),
  /** Of a token that a login gave; null: made by another token. */
  login: otherwise(nullable(LOGIN_ORIGIN), null),
})
export type TokenEntry = RecordOf<typeof TOKEN_ENTRY>

export const encodeTokenEntry = TOKEN_ENTRY.encode
export const decodeTokenEntry = TOKEN_ENTRY.decode

/** Decided by the clock whenever the token is used; timers only clean up (threats P-27). */
export function isExpired(entry: TokenEntry, nowMs: number): boolean {
  return 'atMs' in entry.expiry && entry.expiry.atMs <= nowMs
}

/** Whole seconds left; 0 for a token that never expires. */
export function remainingSeconds(entry: TokenEntry, nowMs: number): number {
  return 'atMs' in entry.expiry ? Math.max(0, Math.floor((entry.expiry.atMs - nowMs) / 1000)) : 0
}

export const isRoot = (entry: TokenEntry): boolean => entry.policies.includes('root')

/** The `auth` part of an answer that hands out, or renewed, this token. */
export function authBlock(
  token: string,
  entry: TokenEntry,
  nowMs: number,
  identityPolicies: readonly string[] = [],
): AuthBlock {
  return {
    client_token: token,
    accessor: entry.accessor,
    policies: united(entry.policies, identityPolicies),
    token_policies: entry.policies,
    ...(identityPolicies.length === 0 ? {} : { identity_policies: identityPolicies }),
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

/** What look-up shows; `token` is the text where the caller knows it, else empty. */
export function tokenInfo(
  token: string,
  entry: TokenEntry,
  nowMs: number,
  identityPolicies: readonly string[] = [],
): Record<string, unknown> {
  const iso = (ms: number) => new Date(ms).toISOString()
  // As recorded: of the root tokens of initialisation and generate-root alone it is not said.
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
    ...(identityPolicies.length === 0 ? {} : { identity_policies: identityPolicies }),
    ...(isLeased ? { issue_time: iso(entry.createdAtMs) } : {}),
    ...(entry.lastRenewalAtMs === null
      ? {}
      : { last_renewal: iso(entry.lastRenewalAtMs), last_renewal_time: Math.floor(entry.lastRenewalAtMs / 1000) }),
    meta: entry.meta,
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
