// A secret id of a role: what is stored of it, never its text.
import { count, mapOf, nullable, text, texts } from '../../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'

export const SECRET_ID = storedRecord('A secret id', {
  accessor: text,
  createdAtMs: count,
  updatedAtMs: count,
  /** Seconds; 0: it does not end. */
  ttlSeconds: count,
  expiresAtMs: nullable(count),
  /** Logins as made; 0: without limit. */
  numUses: count,
  /** Logins left, where they are limited. */
  usesLeft: count,
  metadata: mapOf(text),
  /** Where logins may come from; empty: anywhere the role allows. */
  cidrs: texts,
  /** Where tokens may be used from; empty: as the role says. */
  tokenBoundCidrs: texts,
})
export type SecretId = RecordOf<typeof SECRET_ID>

export const isOver = ({ expiresAtMs }: SecretId, nowMs: number): boolean =>
  expiresAtMs !== null && expiresAtMs <= nowMs

export const encodeSecretId = SECRET_ID.encode
export const decodeSecretId = SECRET_ID.decode

export function secretIdBody(secret: SecretId): object {
  const iso = (ms: number): string => new Date(ms).toISOString()
  return {
    secret_id_accessor: secret.accessor,
    creation_time: iso(secret.createdAtMs),
    last_updated_time: iso(secret.updatedAtMs),
    expiration_time: secret.expiresAtMs === null ? '0001-01-01T00:00:00Z' : iso(secret.expiresAtMs),
    secret_id_ttl: secret.ttlSeconds,
    secret_id_num_uses: secret.numUses === 0 ? 0 : secret.usesLeft,
    metadata: secret.metadata,
    cidr_list: secret.cidrs,
    token_bound_cidrs: secret.tokenBoundCidrs,
  }
}
