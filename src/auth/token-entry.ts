// What is stored of a token: never its text. Times are absolute, so that a stopped server lets nothing live longer.
import type { AuthBlock } from '../api/request.ts'
import { isJsonObject, type JsonObject, parseStoredJson } from '../lib/json.ts'
import { ROOT_TOKEN_PATH } from './token-keys.ts'

export type TokenEntry = {
  readonly format: 1
  readonly namespace: string
  readonly accessor: string
  readonly policies: readonly string[]
  /** Request path that made it. */
  readonly path: string
  readonly displayName: string
  readonly meta: Readonly<Record<string, string>> | null
  /** Storage name of the parent token; empty for an orphan. */
  readonly parent: string
  readonly createdAtMs: number
  /** 0 for a token that never expires. */
  readonly creationTtlSeconds: number
  readonly explicitMaxTtlSeconds: number
  readonly periodSeconds: number
  readonly renewable: boolean
  readonly expiry: { readonly never: true } | { readonly atMs: number }
  readonly lastRenewalAtMs: number | null
  /** Requests left; 0: unlimited; -1: the last one is being served. */
  readonly numUses: number
  /** Those that it was made with, from its first limited use on. */
  readonly usesGiven?: number
  /** A batch token is not stored: its text holds all this, sealed. */
  readonly type: 'service' | 'batch'
  /** Who is behind it; empty: nobody in particular. */
  readonly entityId: string
  /** Addresses that it may be used from (lib/cidr.ts); empty: all. */
  readonly boundCidrs: readonly string[]
  /** The token role that it was made by; empty: none. */
  readonly role: string
  /** Of a token that a login gave; null: made by another token. */
  readonly login: LoginOrigin | null
}

/** What renewal asks the login method about. */
export type LoginOrigin = { readonly mountUuid: string; readonly renewal: JsonObject }

/** What entries that older versions stored do not hold. */
const ABSENT_BEFORE = { type: 'service', entityId: '', boundCidrs: [], role: '', login: null } as const

export function encodeTokenEntry(entry: TokenEntry): Buffer {
  return Buffer.from(JSON.stringify(entry))
}

export function decodeTokenEntry(bytes: Buffer): TokenEntry {
  const value = parseStoredJson(bytes)
  if (!isJsonObject(value) || value.format !== 1) throw new Error('A token entry has an unknown format')
  return { ...ABSENT_BEFORE, ...value } as unknown as TokenEntry
}

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
