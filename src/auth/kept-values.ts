// Values that the server keeps for callers: in cubbyholes, and as wrapped answers. The thread that took the request
// encodes the value and hands on bytes; the writing thread stores them without looking inside.
import type { WrapInfo } from '../api/request.ts'

/**
 * Limits on kept values, from the configuration (`max_cubbyhole_entries` and its neighbours in docs/configuration.md).
 */
export type KeptLimits = {
  /** Bytes of one cubbyhole entry as JSON, and of one wrapped answer. */
  readonly entryBytes: number
  /** Entries in the cubbyhole of one token. */
  readonly entries: number
  /** Bytes of all entries in one cubbyhole, paths included. */
  readonly bytes: number
}

/** Used when the configuration does not set one: 1 MiB an entry, 1,000 entries and 16 MiB a token. */
export const DEFAULT_KEPT_LIMITS: KeptLimits = { entryBytes: 1_048_576, entries: 1_000, bytes: 16_777_216 }

/** Form of a wrapping token. `jwt` is for clients that must learn from the token itself which server opens it. */
export type WrapForm = 'plain' | 'jwt'

/** A wrapped answer on its way to the writing thread. */
export type KeptAnswer = {
  /** Encoded as it is stored. */
  readonly value: Uint8Array
  readonly ttlSeconds: number
  /** Id of the namespace that the token is of. */
  readonly namespaceId: string
  /** Within that namespace. */
  readonly creationPath: string
  /** UUID of the mount that gave the answer. */
  readonly mountUuid: string | undefined
  readonly wrappedAccessor?: string
  readonly form?: WrapForm
}

/** The cubbyhole of a token, as it is in one namespace. */
export type CubbyholeOf = {
  readonly tokenId: string
  /** Id of the namespace; undefined in that of the token. */
  readonly abroad: string | undefined
}

/**
 * Stores values for callers. The writing thread implements it; other threads have a proxy that asks the writing thread.
 */
export interface KeptValues {
  /**
   * Stores `value`, already encoded, in the cubbyhole at `path`.
   * @throws Refusal if the token has ended or its cubbyhole is full, or if the namespace is gone.
   */
  keep(owner: CubbyholeOf, path: string, value: Uint8Array): Promise<void>
  /** Stores an answer under a new wrapping token, and returns what the client is told of that token. */
  keepAnswer(answer: KeptAnswer): Promise<WrapInfo>
}
