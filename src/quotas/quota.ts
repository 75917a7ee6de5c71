// A quota: how many requests of what in which time, and whose they are counted as. As it is stored.
import { count, flag, number, oneOf, otherwise, text, texts } from '../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'

/** By whom requests are counted: each address, all together, or the entity where there is one and else as it says. */
export const GROUPINGS = ['ip', 'none', 'entity_then_ip', 'entity_then_none'] as const
export type Grouping = (typeof GROUPINGS)[number]

export const RATE_QUOTA = storedRecord('A quota', {
  format: oneOf(1),
  name: text,
  /** Another one with each write: what was counted before counts no more. */
  id: text,
  /** UUID of a mount; '': requests to all mounts. */
  mount: text,
  /** Behind the mount's path; '': all of it. One that ends in '*' stands for all that begin so. */
  path: text,
  /** Of a login mount: logins with this role; '': everything. */
  role: text,
  /** Requests in each interval; a fraction counts as one more. */
  rate: number,
  /** Of requests without an entity, where they are counted for themselves. */
  secondaryRate: number,
  intervalSeconds: count,
  /** How long whoever exceeds it is refused everything; 0: until the interval is over. */
  blockSeconds: count,
  groupBy: oneOf(...GROUPINGS),
  inheritable: flag,
})
export type RateQuota = RecordOf<typeof RATE_QUOTA>

/** Each member with what counts where nothing was said, or an earlier version did not store it. */
export const QUOTA_CONFIG = storedRecord('The setting of quotas', {
  format: otherwise(oneOf(1), 1),
  /** Paths behind /v1/ that no quota counts; '*' at the end stands for all that begin so. */
  exemptPaths: otherwise(texts, [
    // What opens and watches the server, as the reference has it.
    'sys/generate-recovery-token/attempt',
    'sys/generate-recovery-token/update',
    'sys/generate-root/attempt',
    'sys/generate-root/update',
    'sys/health',
    'sys/seal-status',
    'sys/unseal',
  ]),
  responseHeaders: otherwise(flag, false),
  /** Whether what a quota refuses is recorded in the audit. */
  auditsRefusals: otherwise(flag, false),
})
export type QuotaConfig = RecordOf<typeof QUOTA_CONFIG>

export const DEFAULT_QUOTA_CONFIG: QuotaConfig = QUOTA_CONFIG.kind.read({})

export const isEntityGrouping = ({ groupBy }: RateQuota): boolean => groupBy.startsWith('entity_')
