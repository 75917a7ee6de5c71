// What callers have kept for them: in cubbyholes, and as wrapped answers. How much, and where it is written: the thread
// that a request came to has read it, and hands on bytes, into which the one that writes never looks.
import type { WrapInfo } from '../api/request.ts'

/** Of the configuration. */
export type KeptLimits = {
  /** Of one entry of a cubbyhole, as JSON, and of one wrapped answer. */
  readonly entryBytes: number
  /** Of the cubbyhole of one token. */
  readonly entries: number
  /** Of all its entries, with their paths. */
  readonly bytes: number
}

export const DEFAULT_KEPT_LIMITS: KeptLimits = { entryBytes: 1_048_576, entries: 1_000, bytes: 16_777_216 }

/** 'jwt': for whoever must learn from the token where it opens. */
export type WrapForm = 'plain' | 'jwt'

/** A wrapped answer that is to be kept. */
export type KeptAnswer = {
  /** As it is stored. */
  readonly value: Uint8Array
  readonly ttlSeconds: number
  readonly creationPath: string
  readonly wrappedAccessor?: string
  readonly form?: WrapForm
}

/** Where values are kept. */
export interface KeptValues {
  /** `value` is what a cubbyhole holds at `path`, as it is stored. @throws Refusal where the token is gone */
  keep(tokenId: string, path: string, value: Uint8Array): Promise<void>
  keepAnswer(answer: KeptAnswer): Promise<WrapInfo>
}
