// sys/metrics: the metrics of docs/metrics.md, for Prometheus or as JSON.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { string } from '../../api/fields.ts'
import { anything, group, integer, listOf, mapOf, number, text } from '../../api/shape.ts'
import { metricsDocument } from '../../telemetry/metrics-json.ts'
import { PROMETHEUS_CONTENT_TYPE, prometheusText } from '../../telemetry/prometheus.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that this endpoint uses. */
type System = Pick<Whole, 'namespaces' | 'sealStatus' | 'telemetry' | 'world'>

const labels = {
  Name: text('Name of the metric, as in docs/metrics.md'),
  Labels: mapOf(text('Value'), 'Labels of the metric'),
}

/** Adds up the counts of all threads at each call. Open without a token, and while sealed, if the listener says so. */
export const metrics: Endpoint<System> = endpoint({
  id: 'metrics',
  operation: 'read',
  path: 'metrics',
  capability: 'read',
  offeredIn: 'root',
  runsOn: 'any-node',
  body: 'plain',
  givesText: true,
  isOpen: ({ unauthenticatedMetrics }) => unauthenticatedMetrics,
  summary: 'Returns the metrics of this node, as JSON or in the Prometheus text format',
  describe:
    'Counts start when the process starts. A token is required unless the listener has `telemetry { ' +
    'unauthenticated_metrics_access = true }`; the endpoint then also answers while the server is sealed.',
  fields: {
    format: string('Format: `prometheus` for the Prometheus text format; empty for JSON', {
      default: '',
      oneOf: ['', 'prometheus'],
    }),
  },
  response: {
    Timestamp: text('Time of the measurement, RFC 3339'),
    Gauges: listOf(group({ ...labels, Value: number('Current value') }, 'Gauge'), 'Gauges, which can go up and down'),
    Points: listOf(anything('Never present'), 'Always empty'),
    Counters: listOf(
      group({ ...labels, Count: number('Count'), Sum: number('Same as Count') }, 'Counter'),
      'Counters, which only increase',
    ),
    Samples: listOf(
      group(
        {
          ...labels,
          Count: integer('Number of samples'),
          Sum: number('Sum of all samples'),
          Mean: number('Mean of the samples'),
        },
        'Distribution',
      ),
      'Distributions',
    ),
  },
  handler: (system: System, { format }) => {
    const { sealed, initialized } = system.sealStatus()
    const readings = system.telemetry.read({ isSealed: sealed, isInitialized: initialized }, system.namespaces)
    if (format === 'prometheus') return { body: prometheusText(readings), contentType: PROMETHEUS_CONTENT_TYPE }
    return { data: metricsDocument(readings, system.world.clock.nowMs()) }
  },
})
