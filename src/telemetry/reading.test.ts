import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { add, CELL, clearGauges, newMetricMemory, rowOf, setKnown, WRITING_ROW } from './cells.ts'
import { COMPUTED } from './families.ts'
import { type Computed, readMetrics, type Sample } from './reading.ts'

const NOT_COMPUTED = Object.fromEntries(Object.keys(COMPUTED).map((name) => [name, undefined])) as Computed

/** The samples of a metric; undefined: the metric is left out. */
const samplesIn = (memory: ReturnType<typeof newMetricMemory>, wanted: string): readonly Sample[] | undefined =>
  readMetrics(memory, { endpoints: [], namespaces: { byId: () => undefined } }, NOT_COMPUTED).find(
    ({ name }) => name === wanted,
  )?.samples

test('a gauge is left out until it is known, and again when its thread is gone', () => {
  const memory = newMetricMemory(0, 2)
  const row = rowOf(memory, WRITING_ROW)
  const lag = () => samplesIn(memory, 'keywright_replication_lag_seconds')
  assert.equal(lag(), undefined)
  setKnown(row, CELL['dr.lag'], 0)
  assert.deepEqual(lag(), [{ labels: { family: 'dr' }, value: 0 }])
  setKnown(row, CELL['performance.lag'], 2.5)
  assert.deepEqual(
    lag()?.map(({ value }) => value),
    [0, 2.5],
  )
  setKnown(row, CELL['dr.lag'], undefined)
  assert.deepEqual(lag(), [{ labels: { family: 'performance' }, value: 2.5 }])
  clearGauges(row)
  assert.equal(lag(), undefined)
})

test('counters and usual gauges are added up over all rows, and begin at 0', () => {
  const memory = newMetricMemory(0, 2)
  const valuesOf = (name: string) => samplesIn(memory, name)?.map(({ value }) => value)
  assert.deepEqual(valuesOf('keywright_replication_links_total'), [0, 0])
  assert.deepEqual(valuesOf('keywright_http_connections'), [0])
  for (const number of [0, 2, 4]) {
    add(rowOf(memory, number), CELL['dr.links'], number)
    add(rowOf(memory, number), CELL.connections, 1)
  }
  assert.deepEqual(valuesOf('keywright_replication_links_total'), [6, 0])
  assert.deepEqual(valuesOf('keywright_http_connections'), [3])
})
