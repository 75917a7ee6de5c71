// Telemetry that all threads share, and what the thread that watches counts in it. It knows no endpoint by name: that
// thread would load all engines for their number alone.

import type { LogLevels } from './lib/log-levels.ts'
import type { Clock, Random } from './lib/world.ts'
import { type LimitMemory, newLimitMemory } from './quotas/limit-table.ts'
import {
  add,
  CELL,
  ENDPOINT_ROOM,
  HISTOGRAM,
  type MetricMemory,
  newMetricMemory,
  observe,
  rowOf,
  WATCHING_ROW,
  WRITING_ROW,
} from './telemetry/cells.ts'
import type { PoolMeter } from './threads/slow-pool.ts'

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

/** Of the pool, in the row of the thread that watches. */
export function poolMeter({ metrics }: SharedTelemetry, clock: Clock): PoolMeter {
  const row = rowOf(metrics, WATCHING_ROW)
  return {
    nowMs: () => clock.monotonicMs(),
    begun: (waitedMs) => observe(row, HISTOGRAM.slowWait, waitedMs / 1000),
    done: () => add(row, CELL.slowJobs, 1),
    refused: () => add(row, CELL.slowRefused, 1),
    waiting: (short, long) => {
      row[CELL.slowShort] = short
      row[CELL.slowLong] = long
    },
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
