// A quota: how many requests of what in which time, and whose they are counted as. As it is stored.
import { isJsonObject, parseStoredJson } from '../lib/json.ts'

/** By whom requests are counted: each address, all together, or the entity where there is one and else as it says. */
export const GROUPINGS = ['ip', 'none', 'entity_then_ip', 'entity_then_none'] as const
export type Grouping = (typeof GROUPINGS)[number]

export type RateQuota = {
  readonly format: 1
  readonly name: string
  /** Another one with each write: what was counted before counts no more. */
  readonly id: string
  /** UUID of a mount; '': requests to all mounts. */
  readonly mount: string
  /** Behind the mount's path; '': all of it. One that ends in '*' stands for all that begin so. */
  readonly path: string
  /** Of a login mount: logins with this role; '': everything. */
  readonly role: string
  /** Requests in each interval; a fraction counts as one more. */
  readonly rate: number
  /** Of requests without an entity, where they are counted for themselves. */
  readonly secondaryRate: number
  readonly intervalSeconds: number
  /** How long whoever exceeds it is refused everything; 0: until the interval is over. */
  readonly blockSeconds: number
  readonly groupBy: Grouping
  readonly inheritable: boolean
}

export type QuotaConfig = {
  readonly format: 1
  /** Paths behind /v1/ that no quota counts; '*' at the end stands for all that begin so. */
  readonly exemptPaths: readonly string[]
  readonly responseHeaders: boolean
  /** Whether what a quota refuses is recorded in the audit. */
  readonly auditsRefusals: boolean
}

/** What opens and watches the server, as the reference has it. */
export const DEFAULT_QUOTA_CONFIG: QuotaConfig = {
  format: 1,
  exemptPaths: [
    'sys/generate-recovery-token/attempt',
    'sys/generate-recovery-token/update',
    'sys/generate-root/attempt',
    'sys/generate-root/update',
    'sys/health',
    'sys/seal-status',
    'sys/unseal',
  ],
  responseHeaders: false,
  auditsRefusals: false,
}

export const encodeQuota = (stored: RateQuota | QuotaConfig): Buffer => Buffer.from(JSON.stringify(stored))

export const decodeQuota = (bytes: Buffer): RateQuota => decoded(bytes) as RateQuota
/** What an earlier version did not store is as it is where nothing was said. */
export const decodeQuotaConfig = (bytes: Buffer): QuotaConfig => ({
  ...DEFAULT_QUOTA_CONFIG,
  ...(decoded(bytes) as Partial<QuotaConfig>),
})

function decoded(bytes: Buffer): unknown {
  const value = parseStoredJson(bytes)
  if (!isJsonObject(value) || value.format !== 1) throw new Error('A stored quota is of a format that is not known')
  return value
}

export const isEntityGrouping = ({ groupBy }: RateQuota): boolean => groupBy.startsWith('entity_')
