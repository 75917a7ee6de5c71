// The stored form of a quota: how many requests of which kind are allowed in which time, and how callers are grouped.
import { count, flag, number, oneOf, optional, otherwise, text, texts } from '../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'

/**
 * How callers are grouped: by address, all together, or by entity; requests without an entity fall back to the second
 * word.
 */
export const GROUPINGS = ['ip', 'none', 'entity_then_ip', 'entity_then_none'] as const
/** The stored and the wire form of a grouping are the same text. */
export type Grouping = (typeof GROUPINGS)[number]

/** The stored form of one quota. */
export const RATE_QUOTA = storedRecord('A quota', {
  format: oneOf(1),
  name: text,
  /** Replaced by every write: the counts of the earlier form no longer apply. */
  id: text,
  /** UUID of a mount; '' for all of a namespace. */
  mount: text,
  /** Id of the namespace whose requests are counted, if no mount is named; absent for the root. */
  namespace: optional(text),
  /** Path below the mount; '' for all of it. A '*' at the end matches every path that begins so. */
  path: text,
  /** On a login mount, the role whose logins are counted; '' for all requests. */
  role: text,
  /** Requests allowed in each interval; a fraction counts as one more. */
  rate: number,
  /** Rate for requests without an entity, if callers are grouped by entity. */
  secondaryRate: number,
  intervalSeconds: count,
  /** How long a caller is refused after it exceeded the rate; 0: only until the interval ends. */
  blockSeconds: count,
  groupBy: oneOf(...GROUPINGS),
  /** It also counts requests in the namespaces below, as far as none of theirs does. Has no effect for a mount. */
  inheritable: flag,
})
/** A quota as the program has it. */
export type RateQuota = RecordOf<typeof RATE_QUOTA>

/**
 * Settings for all quotas. Each member has the default for a value that was never set, or that an earlier version did
 * not store.
 */
export const QUOTA_CONFIG = storedRecord('The setting of quotas', {
  format: otherwise(oneOf(1), 1),
  /** Full paths below /v1/ that no quota counts; a '*' at the end matches every path that begins so. */
  exemptPaths: otherwise(texts, [
    // Paths that unseal and monitor the server, as in the reference.
    'sys/generate-recovery-token/attempt',
    'sys/generate-recovery-token/update',
    'sys/generate-root/attempt',
    'sys/generate-root/update',
    'sys/health',
    'sys/seal-status',
    'sys/unseal',
  ]),
  /** True if answers tell callers what is left, in `X-RateLimit-…` headers. */
  responseHeaders: otherwise(flag, false),
  /** True if requests that a quota refuses are recorded in the audit log. */
  auditsRefusals: otherwise(flag, false),
})
/** Settings for all quotas as the program has them. */
export type QuotaConfig = RecordOf<typeof QUOTA_CONFIG>

/** The settings of a server on which none were stored; one object, so that it can be compared by identity. */
export const DEFAULT_QUOTA_CONFIG: QuotaConfig = QUOTA_CONFIG.kind.read({})

/** True if the quota counts by entity, so that it can be charged only after authentication. */
export const isEntityGrouping = ({ groupBy }: RateQuota): boolean => groupBy.startsWith('entity_')
