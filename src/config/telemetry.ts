// The stanza `telemetry`: where traces go (docs/telemetry.md). Metrics are read from sys/metrics and sent nowhere, so
// the reference's keys for sending them are refused by name.

import type { HclObject } from '../lib/hcl-tree.ts'
import { ConfigError, only, requireKnown, secondsIn, single, textIn } from './values.ts'

/** Settings of traces; metrics have none. */
export type TelemetryConfig = {
  /** Undefined: nothing is traced. */
  readonly traces: TracesConfig | undefined
}

/** Where traces go, and how many. */
export type TracesConfig = {
  /** A collector that takes OTLP over HTTP, without a path: `http://127.0.0.1:4318`. */
  readonly endpoint: string
  /** The part of the requests that is traced, 0 to 1. A client that sends a trace has decided for its request. */
  readonly sampling: number
}

/** The part for a configuration without the stanza. */
export const NO_TELEMETRY: TelemetryConfig = { traces: undefined }

/** Keys of the reference about how its numbers are gathered or named. That is fixed here, so they do nothing. */
const WITHOUT_EFFECT = [
  'prometheus_retention_time',
  'disable_hostname',
  'enable_hostname_label',
  'usage_gauge_period',
  'maximum_gauge_cardinality',
  'lease_metrics_epsilon',
  'num_lease_metrics_buckets',
  'add_lease_metrics_namespace_labels',
  'add_mount_point_rollback_metrics',
]
/** Beginnings of keys of the reference. Each would promise that metrics are sent somewhere. */
const SENDERS = ['statsd', 'statsite', 'circonus', 'dogstatsd', 'stackdriver']
const KEYS = ['otlp_endpoint', 'otlp_sampling', ...WITHOUT_EFFECT]

/** Reads the stanza; returns nothing for a file without it. @throws ConfigError */
export function telemetryOf(body: HclObject): { readonly telemetry?: TelemetryConfig } {
  const block = only(body, 'telemetry', 0)
  if (block === undefined) return {}
  for (const { key, line } of block.body.items) {
    if (SENDERS.some((sender) => key.startsWith(sender)))
      throw new ConfigError(`line ${line}: "${key}" is not offered: let Prometheus read sys/metrics`)
    if (key === 'prefix_filter' || key === 'filter_default' || key === 'metrics_prefix')
      throw new ConfigError(`line ${line}: "${key}" is not offered: choose the metrics where they are read`)
  }
  requireKnown(block.body, KEYS, 'telemetry')
  // Its value has no effect, but a wrong one is still a mistake.
  secondsIn(block.body, 'prometheus_retention_time')
  return { telemetry: { traces: tracesOf(block.body) } }
}

function tracesOf(body: HclObject): TracesConfig | undefined {
  const endpoint = textIn(body, 'otlp_endpoint')
  const sampling = single(body, 'otlp_sampling')
  if (sampling !== undefined && (typeof sampling !== 'number' || !(sampling >= 0 && sampling <= 1)))
    throw new ConfigError('"otlp_sampling" must be a number from 0 to 1')
  if (endpoint === undefined) {
    if (sampling !== undefined) throw new ConfigError('"otlp_sampling" needs otlp_endpoint')
    return undefined
  }
  return { endpoint: collectorOf(endpoint), sampling: sampling ?? 1 }
}

/** Checks the address. A name or password in it would end up in logs, so it is refused (threats U-06). */
function collectorOf(text: string): string {
  const url = URL.parse(text)
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (url === null || !isPlain || !['http:', 'https:'].includes(url.protocol))
    throw new ConfigError(
      '"otlp_endpoint" must be an address such as http://127.0.0.1:4318, without a name or password',
    )
  return url.href.endsWith('/') ? url.href.slice(0, -1) : url.href
}

/** Returns the origins that the server connects to by itself for telemetry (threats P-63). */
export const originsOf = ({ traces }: TelemetryConfig): readonly string[] =>
  traces === undefined ? [] : [new URL(traces.endpoint).origin]
