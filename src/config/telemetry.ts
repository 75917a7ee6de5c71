// The stanza `telemetry`: where traces go. Metrics are there to be read, so what the reference has for sending them
// elsewhere is refused by name.

import type { HclObject } from '../lib/hcl-tree.ts'
import { ConfigError, only, requireKnown, secondsIn, single, textIn } from './values.ts'

export type TelemetryConfig = {
  /** Undefined: nothing is traced. */
  readonly traces: TracesConfig | undefined
}

export type TracesConfig = {
  /** Of a collector that takes OTLP over HTTP, without a path of its own: `http://127.0.0.1:4318`. */
  readonly endpoint: string
  /** Part of the requests that are traced, 0 to 1, where nobody decided before. */
  readonly sampling: number
}

export const NO_TELEMETRY: TelemetryConfig = { traces: undefined }

/** Of the reference; they say how its numbers are gathered or named, which is settled here. */
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
/** Of the reference; each would promise that metrics are sent to somebody. */
const SENDERS = ['statsd', 'statsite', 'circonus', 'dogstatsd', 'stackdriver']
const KEYS = ['otlp_endpoint', 'otlp_sampling', ...WITHOUT_EFFECT]

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

/** A name or password in it would end up in logs, so it is refused (threats U-06). */
function collectorOf(text: string): string {
  const url = URL.parse(text)
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (url === null || !isPlain || !['http:', 'https:'].includes(url.protocol))
    throw new ConfigError(
      '"otlp_endpoint" must be an address such as http://127.0.0.1:4318, without a name or password',
    )
  return url.href.endsWith('/') ? url.href.slice(0, -1) : url.href
}

/** Where the server speaks to by itself. */
export const originsOf = ({ traces }: TelemetryConfig): readonly string[] =>
  traces === undefined ? [] : [new URL(traces.endpoint).origin]
