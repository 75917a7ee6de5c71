// Defines every metric once: name, kind and meaning. The exposition, docs/metrics.md and the layout of the shared
// memory (cells.ts) follow from this table. Names keep to the Prometheus conventions: the unit at the end, `_total` for
// counters, `process_` for figures that every exporter has.
/**
 * Labels of one sample, by name. Values come from tables of the program, never from requests, so their number is
 * bounded; of names of namespaces there are no more than have columns.
 */
export type Labels = Readonly<Record<string, string>>

/** One metric with all its samples. */
export type Family = {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  /** Names of the labels, for the documentation. */
  readonly labels?: readonly string[]
  /** Numbers that each thread keeps in its row: the name in CELL or HISTOGRAM, and the labels of its sample. */
  readonly cells?: Readonly<Record<string, Labels>>
  /** True if each thread's number is shown by itself, with the label `thread`; otherwise they are added up. */
  readonly perThread?: boolean
  /** True for gauges that are left out while they do not apply or are not known: NaN stands in their cells. */
  readonly mayBeUnknown?: boolean
  /** Name of the same metric in dashboards made for the reference. */
  readonly alias?: string
}

type Cells = Readonly<Record<string, Labels>>
const counter = <const C extends Cells>(help: string, cells: C) => ({ kind: 'counter' as const, help, cells })
const gauge = <const C extends Cells>(help: string, cells: C) => ({ kind: 'gauge' as const, help, cells })
const gaugeIfKnown = <const C extends Cells>(help: string, cells: C) => ({ ...gauge(help, cells), mayBeUnknown: true })
/** A number for each family of replication, `dr.name` and `performance.name`. */
function ofFamilies<const N extends string>(name: N, labels: Labels = {}) {
  const cells: Cells = {
    [`dr.${name}`]: { family: 'dr', ...labels },
    [`performance.${name}`]: { family: 'performance', ...labels },
  }
  return cells as Readonly<Record<`${'dr' | 'performance'}.${N}`, Labels>>
}

/** Metrics that the threads keep in their rows. A histogram has a single name for all its buckets. */
export const KEPT = {
  keywright_http_connections: gauge('Open connections', { connections: {} }),
  keywright_http_connections_total: counter('Accepted connections', { connectionsTaken: {} }),
  keywright_http_received_bytes_total: counter('Bytes received in request bodies', { receivedBytes: {} }),
  keywright_http_sent_bytes_total: counter('Bytes sent in response bodies', { sentBytes: {} }),
  keywright_requests_in_flight: {
    ...gauge('Requests in flight', { inFlight: {} }),
    alias: 'vault_core_in_flight_requests',
  },
  keywright_rate_limit_refusals_total: counter('Requests refused by a rate limit quota', { rateLimited: {} }),
  keywright_rate_limit_evictions_total: counter('Callers dropped early because the table of rate limits was full', {
    quotaEvictions: {},
  }),
  keywright_audit_failures_total: counter('Audit entries that no device could record', {
    auditRequestFailures: { phase: 'request' },
    auditResponseFailures: { phase: 'response' },
  }),
  keywright_cache_lookups_total: counter('Look-ups in the caches of stored tokens and keys', {
    tokenHits: { cache: 'tokens', result: 'hit' },
    tokenMisses: { cache: 'tokens', result: 'miss' },
    keyHits: { cache: 'keys', result: 'hit' },
    keyMisses: { cache: 'keys', result: 'miss' },
  }),
  keywright_storage_transactions_total: counter('Committed storage transactions', { transactions: {} }),
  keywright_storage_bytes: gauge('Size of the store on disk', {
    storeBytes: { file: 'database' },
    journalBytes: { file: 'journal' },
  }),
  keywright_storage_commit_seconds: {
    kind: 'histogram',
    help: 'Time to make a group of transactions durable on disk',
    cells: { commit: {} },
  },
  keywright_tokens: gauge('Stored tokens', { tokens: {} }),
  keywright_leases: {
    ...gauge('Leases, which are tokens that expire', { leases: {} }),
    alias: 'vault_expire_num_leases',
  },
  keywright_entities: gauge('Stored identity entities', { entities: {} }),
  keywright_slow_jobs_total: counter('Completed jobs of the pool for slow work', { slowJobs: {} }),
  keywright_slow_jobs_refused_total: counter('Jobs refused because too many were already queued in their thread', {
    slowRefused: {},
  }),
  keywright_slow_jobs_waiting: gauge('Jobs waiting for a thread of the pool', {
    slowShort: { takes: 'short' },
    slowLong: { takes: 'long' },
  }),
  keywright_slow_job_wait_seconds: {
    kind: 'histogram',
    help: 'Time that a job waited for a thread of the pool',
    cells: { slowWait: {} },
  },
  keywright_event_loop_delay_seconds: {
    kind: 'histogram',
    help: 'Delay of a timer beyond its due time, sampled ten times a second',
    cells: { loopDelay: {} },
    perThread: true,
  },
  keywright_heap_used_bytes: {
    ...gauge('JavaScript heap memory in use', { heapUsed: {} }),
    perThread: true,
  },
  keywright_log_dropped_lines_total: counter('Log lines dropped because they could not be written', { logDropped: {} }),
  keywright_log_queued_bytes: gauge('Bytes of log lines waiting to be written', { logQueued: {} }),
  keywright_trace_spans_total: counter('Trace spans that were exported to the collector, or dropped', {
    spansExported: { result: 'exported' },
    spansDropped: { result: 'dropped' },
  }),
  keywright_replication_log_last_index: {
    ...gaugeIfKnown("Index of the last change in this store's log", { logLast: {} }),
    alias: 'vault_replication_wal_last_wal',
  },
  keywright_replication_log_last_dr_index: {
    ...gaugeIfKnown('Index of the last change that secondaries for disaster recovery get', { logLastDr: {} }),
    alias: 'vault_replication_wal_last_dr_wal',
  },
  keywright_replication_log_last_performance_index: {
    ...gaugeIfKnown('Index of the last change that performance secondaries get', { logLastPerformance: {} }),
    alias: 'vault_replication_wal_last_performance_wal',
  },
  keywright_replication_log_oldest_index: gaugeIfKnown('Index of the oldest change that the log retains', {
    logOldest: {},
  }),
  keywright_replication_log_retained_bytes: gaugeIfKnown('Size of the retained log', { logBytes: {} }),
  keywright_replication_log_holds: gaugeIfKnown('Secondaries and running copies that the log is retained for', {
    secondaryHolds: { kind: 'secondary' },
    copyHolds: { kind: 'copy' },
  }),
  keywright_replication_log_broken_holds: gaugeIfKnown(
    'Those of them whose log is gone, since it exceeded its limit: their trees are compared anew',
    { brokenHolds: {} },
  ),
  keywright_replication_log_limit_ratio: gaugeIfKnown(
    'Largest part of its limit that the log retained for a secondary or a copy takes; 1 is the limit',
    { holdRatio: {} },
  ),
  keywright_replication_tree_corrupted: gaugeIfKnown(
    '1 while the last check found that the tree, or an entry, is not what was written',
    { treeCorrupted: {} },
  ),
  keywright_replication_tree_checks_total: counter(
    'Times that all entries were compared with the tree: checks, and reindexes that look at values',
    { treeChecks: {} },
  ),
  keywright_replication_tree_damage_total: counter('Those of them, and of other reindexes, that found damage', {
    treeDamage: {},
  }),
  keywright_replication_connected: gaugeIfKnown(
    '1 while this secondary follows its primary over a link',
    ofFamilies('connected'),
  ),
  keywright_replication_last_remote_index: {
    ...gaugeIfKnown(
      "Index of the last change in the primary's log that this secondary applied",
      ofFamilies('lastRemote'),
    ),
    alias: 'vault_replication_fsm_last_remote_wal',
  },
  keywright_replication_lag_records: gaugeIfKnown(
    'Changes of the primary that this secondary lacks, by the last heartbeat; missing during a copy or comparison',
    ofFamilies('lagRecords'),
  ),
  keywright_replication_lag_seconds: gaugeIfKnown(
    'Age of the oldest change of the primary that this secondary lacks, by the last heartbeat; 0 if it lacks none',
    ofFamilies('lag'),
  ),
  keywright_replication_secondaries: gaugeIfKnown('Secondaries of this primary that were let in and are not revoked', {
    ...ofFamilies('linkedSecondaries', { link: 'connected' }),
    ...ofFamilies('unlinkedSecondaries', { link: 'disconnected' }),
  }),
  keywright_replication_canary_age_seconds: gaugeIfKnown(
    'Age of the state of the primary that this secondary has for certain; on a primary the largest age of its ' +
      'secondaries that had a link since it started',
    ofFamilies('canaryAge'),
  ),
  keywright_replication_synchronous_secondaries: gaugeIfKnown(
    'Secondaries that writes wait for, by their state: away: writes go on without it; unknown: it was never let in',
    {
      synchronousInStep: { state: 'in-step' },
      synchronousWaiting: { state: 'waiting' },
      synchronousAway: { state: 'away' },
      synchronousUnknown: { state: 'unknown' },
    },
  ),
  keywright_replication_synchronous_waiting: gaugeIfKnown('Writes that wait for synchronous secondaries', {
    synchronousWrites: {},
  }),
  keywright_replication_synchronous_writes_total: counter(
    'Writes by what synchronous secondaries said to them: confirmed by all, after a wait; answered without one that ' +
      'is away; unconfirmed, and so refused an answer',
    {
      synchronousConfirmed: { result: 'confirmed' },
      synchronousAlone: { result: 'alone' },
      synchronousUnconfirmed: { result: 'unconfirmed' },
    },
  ),
  keywright_replication_synchronous_wait_seconds_total: counter('Time that writes waited for synchronous secondaries', {
    synchronousSeconds: {},
  }),
  keywright_replication_links_total: counter(
    'Links on which following began, the first and all later ones',
    ofFamilies('links'),
  ),
  keywright_replication_transfers_total: counter(
    'Transfers of state that began, or went on over another link: copies of everything, and comparisons of trees',
    { ...ofFamilies('copies', { kind: 'copy' }), ...ofFamilies('comparisons', { kind: 'comparison' }) },
  ),
  keywright_replication_divergences_total: counter(
    'Times that a secondary found data which are not those of its primary; it then has the trees compared',
    ofFamilies('divergences'),
  ),
  keywright_replication_sent_records_total: counter(
    'Records of the log sent to secondaries, to each by itself',
    ofFamilies('sentRecords'),
  ),
  keywright_replication_applied_records_total: counter(
    'Records of the log of the primary that were applied',
    ofFamilies('appliedRecords'),
  ),
  keywright_replication_sent_bytes_total: counter(
    'Bytes sent over links to other clusters, without TLS',
    ofFamilies('sentBytes'),
  ),
  keywright_replication_received_bytes_total: counter(
    'Bytes received over links to other clusters, without TLS',
    ofFamilies('receivedBytes'),
  ),
} as const satisfies Readonly<Record<string, Family>>

/** Metrics by endpoint; the threads keep them too, in the columns of endpoints. */
export const OF_ENDPOINTS = {
  keywright_requests_total: {
    kind: 'counter',
    help: 'Answered requests, by endpoint and status class',
    labels: ['endpoint', 'status'],
  },
  keywright_request_duration_seconds: {
    kind: 'histogram',
    help: 'Time from the complete request to its answer, by endpoint',
    labels: ['endpoint'],
  },
} as const satisfies Readonly<Record<string, Family>>

/** Metrics by namespace, in columns of their own (namespace-places.ts). */
export const OF_NAMESPACES = {
  keywright_namespace_requests_total: {
    kind: 'counter',
    help:
      'Answered requests, by namespace and status class; `root` is the root namespace, `*` all that came after the ' +
      'first 200 that had a request',
    labels: ['namespace', 'status'],
  },
} as const satisfies Readonly<Record<string, Family>>

/** Metrics that are computed when they are read. */
export const COMPUTED = {
  keywright_unsealed: { kind: 'gauge', help: '1 while the server is unsealed', alias: 'vault_core_unsealed' },
  keywright_initialized: { kind: 'gauge', help: '1 once the server is initialised' },
  keywright_threads: { kind: 'gauge', help: 'Threads that serve requests' },
  process_cpu_seconds_total: { kind: 'counter', help: 'CPU time of all threads, in seconds' },
  process_resident_memory_bytes: { kind: 'gauge', help: 'Resident memory of the process' },
  process_open_fds: { kind: 'gauge', help: 'Open file descriptors' },
  process_start_time_seconds: { kind: 'gauge', help: 'Start time of the process, in seconds since the Unix epoch' },
} as const satisfies Readonly<Record<string, Family>>

type Kept = (typeof KEPT)[keyof typeof KEPT]
type NamesIn<F> = F extends { readonly cells: infer C } ? keyof C : never

/** Names of counters and gauges in CELL. */
export type CellName = NamesIn<Exclude<Kept, { readonly kind: 'histogram' }>>
/** Names of histograms in HISTOGRAM. */
export type HistogramName = NamesIn<Extract<Kept, { readonly kind: 'histogram' }>>

/** All metrics, in the order in which they are shown. */
export const FAMILIES: Readonly<Record<string, Family>> = {
  ...COMPUTED,
  ...OF_ENDPOINTS,
  ...OF_NAMESPACES,
  ...KEPT,
}

/**
 * Upper bounds of histogram buckets, in seconds: from a request answered from caches to one that waits for a slow disk.
 */
export const BUCKETS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]
