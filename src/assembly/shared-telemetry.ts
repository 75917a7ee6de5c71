// Telemetry in memory that all threads share, and what is counted there. It names no endpoint: the watching thread
// makes it, and would have to load every engine just to count their endpoints.

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

/** Metrics, log levels and quota counts, in memory that all threads share. */
export type SharedTelemetry = {
  readonly metrics: MetricMemory
  readonly levels: LogLevels
  readonly limits: LimitMemory
}

/** The key under which callers are hashed into the table of quotas. */
const KEY_BYTES = 16

/** Makes the memory, with room for this many serving threads and the writing one. */
export function newSharedTelemetry(random: Random, levels: LogLevels, servingThreads: number): SharedTelemetry {
  return {
    metrics: newMetricMemory(ENDPOINT_ROOM, servingThreads),
    levels,
    limits: newLimitMemory(random.bytes(KEY_BYTES).toString('hex')),
  }
}

/** Returns what counts commits, in the row of the writing thread. */
export function commitMeter({ metrics }: SharedTelemetry): (transactions: number, ms: number) => void {
  const row = rowOf(metrics, WRITING_ROW)
  return (transactions, ms) => {
    add(row, CELL.transactions, transactions)
    observe(row, HISTOGRAM.commit, ms / 1000)
  }
}
