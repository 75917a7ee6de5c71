// Defines every metric once: name, kind and meaning. The exposition, docs/metrics.md and the layout of the shared
// memory (cells.ts) follow from this table. Names keep to the Prometheus conventions: the unit at the end, `_total` for
// counters, `process_` for figures that every exporter has.
/**
 * Labels of one sample, by name. Values come from tables of the program, never from
 * requests, so their number is bounded.
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
  /** Name of the same metric in dashboards made for the reference. */
  readonly alias?: string
}

type Cells = Readonly<Record<string, Labels>>
const counter = <const C extends Cells>(help: string, cells: C) => ({ kind: 'counter' as const, help, cells })
const gauge = <const C extends Cells>(help: string, cells: C) => ({ kind: 'gauge' as const, help, cells })

/** Metrics that the threads keep in their rows. A histogram has a single name for all its buckets. */
export const KEPT = {
  keywright_http_connections: gauge('Connections that are open', { connections: {} }),
  keywright_http_connections_total: counter('Connections that were taken', { connectionsTaken: {} }),
  keywright_http_received_bytes_total: counter('Bytes of request bodies', { receivedBytes: {} }),
  keywright_http_sent_bytes_total: counter('Bytes of response bodies', { sentBytes: {} }),
  keywright_requests_in_flight: {
    ...gauge('Requests that are under way', { inFlight: {} }),
    alias: 'vault_core_in_flight_requests',
  },
  keywright_rate_limit_refusals_total: counter('Requests that a quota refused', { rateLimited: {} }),
  keywright_rate_limit_evictions_total: counter('Callers that a full table of quotas forgot before their time', {
    quotaEvictions: {},
  }),
  keywright_audit_failures_total: counter('Entries that no audit device took', {
    auditRequestFailures: { phase: 'request' },
    auditResponseFailures: { phase: 'response' },
  }),
  keywright_cache_lookups_total: counter('Look-ups in caches of what is stored', {
    tokenHits: { cache: 'tokens', result: 'hit' },
    tokenMisses: { cache: 'tokens', result: 'miss' },
    keyHits: { cache: 'keys', result: 'hit' },
    keyMisses: { cache: 'keys', result: 'miss' },
  }),
  keywright_storage_transactions_total: counter('Transactions that were committed', { transactions: {} }),
  keywright_storage_bytes: gauge('Size of the store on the disk', {
    storeBytes: { file: 'database' },
    journalBytes: { file: 'journal' },
  }),
  keywright_storage_commit_seconds: {
    kind: 'histogram',
    help: 'From handing a group of transactions to the disk until it is durable',
    cells: { commit: {} },
  },
  keywright_tokens: gauge('Tokens that are stored', { tokens: {} }),
  keywright_leases: {
    ...gauge('Leases: tokens that end by themselves', { leases: {} }),
    alias: 'vault_expire_num_leases',
  },
  keywright_entities: gauge('Entities that are stored', { entities: {} }),
  keywright_slow_jobs_total: counter('Jobs of the pool for slow work that were done', { slowJobs: {} }),
  keywright_slow_jobs_refused_total: counter('Jobs that found too many waiting in their thread', { slowRefused: {} }),
  keywright_slow_jobs_waiting: gauge('Jobs that wait for a thread of the pool', {
    slowShort: { takes: 'short' },
    slowLong: { takes: 'long' },
  }),
  keywright_slow_job_wait_seconds: {
    kind: 'histogram',
    help: 'How long a job waited for a thread of the pool',
    cells: { slowWait: {} },
  },
  keywright_event_loop_delay_seconds: {
    kind: 'histogram',
    help: 'How much later than planned a timer ran, looked at ten times a second',
    cells: { loopDelay: {} },
    perThread: true,
  },
  keywright_heap_used_bytes: {
    ...gauge('Memory of the JavaScript heap in use', { heapUsed: {} }),
    perThread: true,
  },
  keywright_log_dropped_lines_total: counter('Lines that the log could not take', { logDropped: {} }),
  keywright_log_queued_bytes: gauge('Bytes of the log that wait to be written', { logQueued: {} }),
  keywright_trace_spans_total: counter('Spans that were handed to the collector, or could not be', {
    spansExported: { result: 'exported' },
    spansDropped: { result: 'dropped' },
  }),
} as const satisfies Readonly<Record<string, Family>>

/** Metrics by endpoint; the threads keep them too, in the columns of endpoints. */
export const OF_ENDPOINTS = {
  keywright_requests_total: {
    kind: 'counter',
    help: 'Requests that were answered, by endpoint and class of status',
    labels: ['endpoint', 'status'],
  },
  keywright_request_duration_seconds: {
    kind: 'histogram',
    help: 'From the whole request until its answer, by endpoint',
    labels: ['endpoint'],
  },
} as const satisfies Readonly<Record<string, Family>>

/** Metrics that are computed when they are read. */
export const COMPUTED = {
  keywright_unsealed: { kind: 'gauge', help: '1 while the server is unsealed', alias: 'vault_core_unsealed' },
  keywright_initialized: { kind: 'gauge', help: '1 when keys were made' },
  keywright_threads: { kind: 'gauge', help: 'Threads that serve requests' },
  process_cpu_seconds_total: { kind: 'counter', help: 'Time on the processor, of all threads' },
  process_resident_memory_bytes: { kind: 'gauge', help: 'Memory of the process that is in RAM' },
  process_open_fds: { kind: 'gauge', help: 'File descriptors that are open' },
  process_start_time_seconds: { kind: 'gauge', help: 'When the process started, in seconds since the epoch' },
} as const satisfies Readonly<Record<string, Family>>

type Kept = (typeof KEPT)[keyof typeof KEPT]
type NamesIn<F> = F extends { readonly cells: infer C } ? keyof C : never

/** Names of counters and gauges in CELL. */
export type CellName = NamesIn<Exclude<Kept, { readonly kind: 'histogram' }>>
/** Names of histograms in HISTOGRAM. */
export type HistogramName = NamesIn<Extract<Kept, { readonly kind: 'histogram' }>>

/** All metrics, in the order in which they are shown. */
export const FAMILIES: Readonly<Record<string, Family>> = { ...COMPUTED, ...OF_ENDPOINTS, ...KEPT }

/**
 * Upper bounds of histogram buckets, in seconds: from a request answered from caches to one that waits for a slow disk.
 */
export const BUCKETS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]
