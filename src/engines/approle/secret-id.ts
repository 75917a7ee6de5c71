// The stored form of a secret id, which does not contain its text.
import { count, mapOf, nullable, text, texts } from '../../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'

/** A stored secret id, found by the digest of its text. */
export const SECRET_ID = storedRecord('A secret id', {
  accessor: text,
  createdAtMs: count,
  updatedAtMs: count,
  /** Seconds; 0 if it does not expire. */
  ttlSeconds: count,
  expiresAtMs: nullable(count),
  /** Logins it was made for; 0: without limit. */
  numUses: count,
  /** Logins left, if they are limited. */
  usesLeft: count,
  metadata: mapOf(text),
  /** Addresses that logins may come from; empty: all that the role allows. */
  cidrs: texts,
  /** Addresses that tokens may be used from; empty: those of the role. */
  tokenBoundCidrs: texts,
})
/** The facts of a secret id: its limits and its uses. Its text is not stored. */
export type SecretId = RecordOf<typeof SECRET_ID>

/** True if the secret id has expired. The clock decides at every use; tidying only removes what is stored. */
export const isOver = ({ expiresAtMs }: SecretId, nowMs: number): boolean =>
  expiresAtMs !== null && expiresAtMs <= nowMs

/** The bytes of a secret id, as they are stored. */
export const encodeSecretId = SECRET_ID.encode
/** The secret id of stored bytes. @throws StorageCorrupt if they are not one. */
export const decodeSecretId = SECRET_ID.decode

/** Returns what look-up shows; the year 1 stands for "never expires", as in the reference. */
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
