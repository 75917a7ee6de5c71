// A secret id of a role: what is stored of it, never its text.
import { isJsonObject, parseStoredJson } from '../../lib/json.ts'

export type SecretId = {
  readonly accessor: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** Seconds; 0: it does not end. */
  readonly ttlSeconds: number
  readonly expiresAtMs: number | null
  /** Logins as made; 0: without limit. */
  readonly numUses: number
  /** Logins left, where they are limited. */
  readonly usesLeft: number
  readonly metadata: Readonly<Record<string, string>>
  /** Where logins may come from; empty: anywhere the role allows. */
  readonly cidrs: readonly string[]
  /** Where tokens may be used from; empty: as the role says. */
  readonly tokenBoundCidrs: readonly string[]
}

export const isOver = ({ expiresAtMs }: SecretId, nowMs: number): boolean =>
  expiresAtMs !== null && expiresAtMs <= nowMs

export const encodeSecretId = (secret: SecretId): Buffer => Buffer.from(JSON.stringify({ format: 1, ...secret }))

export function decodeSecretId(bytes: Buffer): SecretId {
  const value = parseStoredJson(bytes)
  if (!isJsonObject(value) || value.format !== 1) throw new Error('A secret id has an unknown format')
  const { format: _format, ...secret } = value
  return secret as unknown as SecretId
}

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
