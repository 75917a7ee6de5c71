// sys/metrics: the metrics of docs/metrics.md, for Prometheus or as JSON.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { string } from '../../api/fields.ts'
import { anything, group, integer, listOf, mapOf, number, text } from '../../api/shape.ts'
import { metricsDocument } from '../../telemetry/metrics-json.ts'
import { PROMETHEUS_CONTENT_TYPE, prometheusText } from '../../telemetry/prometheus.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that this endpoint uses. */
type System = Pick<Whole, 'sealStatus' | 'telemetry' | 'world'>

const labels = { Name: text('Of docs/metrics.md'), Labels: mapOf(text('Value'), 'What it is about') }

/** Adds up the counts of all threads at each call. Open without a token, and while sealed, if the listener says so. */
export const metrics: Endpoint<System> = endpoint({
  id: 'metrics',
  operation: 'read',
  path: 'metrics',
  capability: 'read',
  runsOn: 'any-node',
  body: 'plain',
  givesText: true,
  isOpen: ({ unauthenticatedMetrics }) => unauthenticatedMetrics,
  summary: 'Metrics of this node: JSON, or the text that Prometheus reads',
  describe:
    'Counts are those since the process started. Without a token only where the listener says ' +
    '`telemetry { unauthenticated_metrics_access = true }`; it then also answers while the server is sealed.',
  fields: {
    format: string('`prometheus` for its text format; empty for JSON', { default: '', oneOf: ['', 'prometheus'] }),
  },
  response: {
    Timestamp: text('RFC 3339'),
    Gauges: listOf(group({ ...labels, Value: number('Now') }, 'Gauge'), 'What goes up and down'),
    Points: listOf(anything('Never any'), 'Empty'),
    Counters: listOf(group({ ...labels, Count: number('So many'), Sum: number('As Count') }, 'Counter'), 'Only grow'),
    Samples: listOf(
      group({ ...labels, Count: integer('How many'), Sum: number('Of all'), Mean: number('Of one') }, 'Distribution'),
      'Distributions',
    ),
  },
  handler: (system: System, { format }) => {
    const { sealed, initialized } = system.sealStatus()
    const readings = system.telemetry.read({ isSealed: sealed, isInitialized: initialized })
    if (format === 'prometheus') return { body: prometheusText(readings), contentType: PROMETHEUS_CONTENT_TYPE }
    return { data: metricsDocument(readings, system.world.clock.nowMs()) }
  },
})
