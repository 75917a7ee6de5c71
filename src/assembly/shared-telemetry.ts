// Telemetry that all threads share, and what is counted in it. It knows no endpoint by name: that
// thread would load all engines for their number alone.

import type { LogLevels } from '../lib/log-levels.ts'
import type { Random } from '../lib/world.ts'
import { type LimitMemory, newLimitMemory } from '../quotas/limit-table.ts'
import {
  add,
  CELL,
  ENDPOINT_ROOM,
  HISTOGRAM,
  type MetricMemory,
  newMetricMemory,
  observe,
  rowOf,
  WRITING_ROW,
} from '../telemetry/cells.ts'

/** In memory that all threads share. */
export type SharedTelemetry = {
  readonly metrics: MetricMemory
  readonly levels: LogLevels
  readonly limits: LimitMemory
}

const KEY_BYTES = 16

export function newSharedTelemetry(random: Random, levels: LogLevels, servingThreads: number): SharedTelemetry {
  return {
    metrics: newMetricMemory(ENDPOINT_ROOM, servingThreads),
    levels,
    limits: newLimitMemory(random.bytes(KEY_BYTES).toString('hex')),
  }
}

/** Of commits, in the row of the thread that writes. */
export function commitMeter({ metrics }: SharedTelemetry): (transactions: number, ms: number) => void {
  const row = rowOf(metrics, WRITING_ROW)
  return (transactions, ms) => {
    add(row, CELL.transactions, transactions)
    observe(row, HISTOGRAM.commit, ms / 1000)
  }
}
