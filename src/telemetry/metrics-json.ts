// Writes the metrics in the JSON form of the reference: gauges, counters, and samples for distributions. Numbers count
// from the start of the process, not for a last interval.
import type { Distribution, Reading } from './reading.ts'
import { totalCount } from './reading.ts'

/** The answer of `sys/metrics` in JSON. Points is always empty; the form has the member. */
export type MetricsDocument = {
  /** RFC 3339. */
  readonly Timestamp: string
  readonly Gauges: readonly object[]
  readonly Points: readonly object[]
  readonly Counters: readonly object[]
  readonly Samples: readonly object[]
}

/** Arranges the readings; a metric with an alias appears under both names. `nowMs` is wall clock time. */
export function metricsDocument(readings: readonly Reading[], nowMs: number): MetricsDocument {
  const of = (kind: string): readonly object[] =>
    readings
      .filter(({ family }) => family.kind === kind)
      .flatMap(({ name, family, samples }) =>
        [name, ...(family.alias === undefined ? [] : [family.alias])].flatMap((shown) =>
          samples.map(({ labels, value }) => ({ Name: shown, ...numbersOf(kind, value), Labels: labels })),
        ),
      )
  return {
    Timestamp: new Date(nowMs).toISOString(),
    Gauges: of('gauge'),
    Points: [],
    Counters: of('counter'),
    Samples: of('histogram'),
  }
}

function numbersOf(kind: string, value: number | Distribution): object {
  if (typeof value !== 'number') {
    const count = totalCount(value)
    return { Count: count, Sum: value.sum, Mean: count === 0 ? 0 : value.sum / count }
  }
  return kind === 'gauge' ? { Value: value } : { Count: value, Sum: value }
}
